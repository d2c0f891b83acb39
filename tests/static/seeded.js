// Chance that is the same in every run: a test that fails once fails again.

/**
 * Draws from a seed (mulberry32).
 *
 * @param {number} seed
 */
export function seeded(seed) {
  let state = seed >>> 0;
  const share = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    /** A number from 0 up to 1. */
    share,
    /** A whole number from `low` up to `high`, without `high`. */
    whole: (low, high) => low + Math.floor(share() * (high - low)),
    /** One of several. */
    one: (all) => all[Math.floor(share() * all.length)],
    /** So many different ones of several, in any order. */
    some: (all, number) => {
      const left = [...all];
      return Array.from({ length: number }, () => left.splice(Math.floor(share() * left.length), 1)[0]);
    },
  };
}
