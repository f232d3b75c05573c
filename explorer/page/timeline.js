// (See the contract.)
export function mountTimeline() {}
