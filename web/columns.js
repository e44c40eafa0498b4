// Reads the columns that src/report/columns.cpp writes; its header says how they are coded.

function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// The numbers behind the code, one a call. Sums, not shifts: they may need more than 32 bits.
function numbers(text) {
  const bytes = bytesOf(text);
  let at = 0, zeros = 0;
  const varint = () => {
    let value = 0, scale = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  };
  return () => {
    if (zeros > 0) { --zeros; return 0; }
    const code = varint();
    if (code === 0) { zeros = varint(); return 0; }
    return code % 2 ? -(code + 1) / 2 : code / 2;
  };
}

const ALL_IN_ORDER = { at: (k) => k, starts: (k) => k === 0 };

// `groups`: at(k) is the place of the k-th value, starts(k) whether a group begins there.
export function readColumn(text, count, steady, groups = ALL_IN_ORDER) {
  const values = new Float64Array(count);
  const next = numbers(text);
  let latest = 0, step = 0, first = true;
  for (let k = 0; k < count; ++k) {
    if (groups.starts(k)) { latest = 0; step = 0; first = true; }
    const value = next() + latest + step;
    if (steady && !first) step = value - latest;
    latest = value;
    first = false;
    values[groups.at(k)] = value;
  }
  return values;
}

export function readSequence(text, count) {
  const values = new Uint32Array(count);
  const next = numbers(text);
  const followedBy = [];
  let latest = 0;
  for (let i = 0; i < count; ++i) {
    const code = next();
    const value = code === 0 ? followedBy[latest] ?? 0 : code - 1;
    followedBy[latest] = value;
    latest = values[i] = value;
  }
  return values;
}

// The groups of a sequence: equal values stand together, in their own order.
export function groupsOf(sequence, kinds) {
  const first = new Uint32Array(kinds + 1);
  for (const value of sequence) ++first[value + 1];
  for (let k = 0; k < kinds; ++k) first[k + 1] += first[k];
  const order = new Uint32Array(sequence.length), begins = new Uint8Array(sequence.length + 1);
  for (let k = 0; k < kinds; ++k) begins[first[k]] = 1;
  const next = first.slice();
  for (let i = 0; i < sequence.length; ++i) order[next[sequence[i]]++] = i;
  return { at: (k) => order[k], starts: (k) => begins[k] === 1, order, first };
}
