// What the reader has chosen. Views read it and are told of changes; only store.set() changes it.
//   launch, core     what is shown: a Launch and one of its cores, whose critical path is drawn
//   selected         { core, i } or null: the one instruction in the details
//   line             { file, line } or null
//   query            text of the search
//   hidden           numbers of the queues that the timeline leaves out
//   range            [from, to] in ps: what the timeline shows
//   span             ps that there are to show: the launch, or the longer of two that are compared

export function createStore(state) {
  let listeners = [];
  return {
    get: () => state,
    set(change) {
      const before = state;
      state = { ...state, ...change };
      for (const listener of listeners) listener(state, before);
    },
    // listener(state, before)
    subscribe: (listener) => { listeners.push(listener); },
    unsubscribe: (list) => { listeners = listeners.filter((listener) => !list.includes(listener)); },
  };
}

// The same store for views that come and go: end() takes back what they subscribed to.
export function scope(store) {
  const mine = [];
  return {
    ...store,
    subscribe(listener) {
      mine.push(listener);
      store.subscribe(listener);
    },
    end: () => store.unsubscribe(mine),
  };
}
