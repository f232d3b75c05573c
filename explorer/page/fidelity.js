// (See the contract.)
export function mountFidelity() {}
