// (See the contract.)
export function mountKnobs() {}
