// (See the contract.)
export function mountMap() {}
