import { longest } from './suites.mjs'

const rank = ({ path }) => {
  const at = longest.findIndex(name => path.endsWith(`/test/${name}.test.ts`))
  return at < 0 ? longest.length : at
}

/** Begins with the tests that take the longest; the others come as they are found. */
export default class LongestFirst {
  /** Which tests run in which part of a run (--shard). */
  shard(tests, { shardIndex, shardCount }) {
    return tests.filter((_, i) => i % shardCount === shardIndex - 1)
  }

  sort(tests) {
    return [...tests].sort((a, b) => rank(a) - rank(b))
  }

  allFailedTests(tests) {
    return tests
  }

  cacheResults() {}
}
