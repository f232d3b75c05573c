// (See the contract.)
export function mountShare() {}
