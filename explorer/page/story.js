// (See the contract.)
export function mountStory() {}
