// The conversation received one whole answer of the provider, never pieces of two: its text, its
// calls and the bytes of their arguments.

import { addressOf, type Checker, messageKey, recordsOf, turnKey } from '../evidence.ts'

export const modelWords: Checker = {
  name: 'model-words',
  check(evidence) {
    const said = Map.groupBy(evidence.said, messageKey)
    const messages = new Map(
      recordsOf(evidence, 'turn-started').map(({ message }) => [
        turnKey(message),
        messageKey(message),
      ]),
    )
    return recordsOf(evidence, 'round-outcome').flatMap((record) => {
      const { response, failure } = record.message
      if (failure !== null) return []
      const heard = wordsOf({ text: response.text, calls: response.calls })
      const answers = said.get(messages.get(turnKey(record.message)) ?? '') ?? []
      if (answers.some((answer) => wordsOf(answer) === heard)) return []
      return [
        {
          checker: 'model-words',
          what: `the response ${heard.slice(0, 400)} is none of the ${answers.length} that the model gave`,
          at: addressOf(record),
        },
      ]
    })
  },
}

function wordsOf({
  text,
  calls,
}: {
  text: string
  calls: { name: string; raw: string }[]
}): string {
  return JSON.stringify([text, calls.map(({ name, raw }) => [name, raw])])
}
