import { expect, it } from '@jest/globals'
import { knownWordsHash } from '../../../client/guard/known-words.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { type Words, wordsHash } from '../../../shared/transcript/round-key.ts'

const call = (id: string, name: string, text: string) => ({ id, name, arguments: text })
const round = (...calls: Words['calls']): Words => ({ text: '', calls })

const rounds: [string, Words][] = [
  ['a call', round(call('1', 'exec', '{}'))],
  ['a call whose id ends with the name', round(call('1e', 'xec', '{}'))],
  ['a call whose name ends with the arguments', round(call('1', 'exec{', '}'))],
  ['two calls', round(call('1', 'exec', '{}'), call('2', 'exec', '{}'))],
  ['a call that contains two', round(call('1', 'exec', '{}1 4 2 2exec{}'))],
  ['a call with other spaces', round(call('1', 'exec', '{ }'))],
  ['a text', { text: 'Done.', calls: [] }],
  ['another text', { text: 'No.', calls: [] }],
  ['a long call', round(call('1', 'exec', `{"a":"${'x'.repeat(limits.guestWordsCharsMax)}"}`))],
]

it.each(rounds)('a round has the same hash at the first and at a later request: %s', (_, words) => {
  expect([knownWordsHash(words), knownWordsHash(words)]).toEqual([
    wordsHash(words),
    wordsHash(words),
  ])
})
