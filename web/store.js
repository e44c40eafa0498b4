// What the reader has chosen. Views read it and are told of changes; only store.set() changes it.
//   launch, core     what is shown: a Launch and one of its cores, whose critical path is drawn
//   selected         { core, i } or null: the one instruction in the details
//   line             { file, line } or null
//   query            text of the search
//   hidden           numbers of the queues that the timeline leaves out
//   range            [from, to] in ps: what the timeline shows

export function createStore(state) {
  const listeners = [];
  return {
    get: () => state,
    set(change) {
      const before = state;
      state = { ...state, ...change };
      for (const listener of listeners) listener(state, before);
    },
    // listener(state, before)
    subscribe: (listener) => listeners.push(listener),
  };
}
