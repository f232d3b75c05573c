// Seeds have 64 bits, more than a Number holds. So they are texts.

export const isSeed = text => /^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n;

export const seedAfter = (seed, by) => String(BigInt.asUintN(64, BigInt(seed) + BigInt(by)));

// `count` consecutive seeds. The first is `from` after `seed`.
export const seedsAfter = (seed, from, count) => Array.from({length: count}, (_, i) => seedAfter(seed, from + i));
