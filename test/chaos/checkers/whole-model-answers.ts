// The conversation received one whole answer of the provider, never pieces of two: its text, its
// calls and the bytes of their arguments.

import { addressOf, type Checker, messageKey, recordsOf, turnKey } from '../evidence.ts'

export const wholeModelAnswers: Checker = {
  name: 'whole-model-answers',
  check(evidence) {
    const given = Map.groupBy(evidence.modelAnswers, messageKey)
    const messages = new Map(
      recordsOf(evidence, 'turn-started').map(({ message }) => [
        turnKey(message),
        messageKey(message),
      ]),
    )
    return recordsOf(evidence, 'round-outcome').flatMap((record) => {
      const { response, failure } = record.message
      if (failure !== null) return []
      const received = contentOf({ text: response.text, calls: response.calls })
      const answers = given.get(messages.get(turnKey(record.message)) ?? '') ?? []
      if (answers.some((answer) => contentOf(answer) === received)) return []
      return [
        {
          checker: 'whole-model-answers',
          problem: `the response ${received.slice(0, 400)} is none of the ${answers.length} answers of the model`,
          at: addressOf(record),
        },
      ]
    })
  },
}

function contentOf({
  text,
  calls,
}: {
  text: string
  calls: { name: string; raw: string }[]
}): string {
  return JSON.stringify([text, calls.map(({ name, raw }) => [name, raw])])
}
