// (See the contract.)
export function mountRemedies() {}
