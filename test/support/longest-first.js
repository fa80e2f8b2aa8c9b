// The order in which the test files of a run begin: first those that take minutes or mostly wait, so that no worker is left alone with one of them at the
// end. Jest goes by the durations of the last run, but a fresh clone has none, and its guess then, the size of the file, puts the longest last.
// JavaScript, because the types of the package describe another module than the one that an import gets.

import Sequencer from '@jest/test-sequencer'

/** Parts of paths, by the time that they take on two cores. What none of them names comes last, in jest's order. */
const longest = [
  'test/e2e/chaos.',
  'test/shared/bus/kafka.int.',
  'test/e2e/kill.',
  'test/simulation/',
  'test/shared/bus/kafka/broker-away.',
  'test/e2e/kafka-',
  'test/e2e/',
  'test/support/kafka/',
  'test/package.',
  '.int.test.ts',
]

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const at = longest.findIndex((part) => path.includes(part))
      return at < 0 ? longest.length : at
    }
    return super.sort(tests).sort((one, other) => place(one) - place(other))
  }
}
