// (See the contract.)
export function mountVerdict() {}
