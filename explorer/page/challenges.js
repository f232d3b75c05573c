// (See the contract.)
export function mountChallenges() {}
