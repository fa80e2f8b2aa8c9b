// The conversation received one whole answer of the provider, never pieces of two: its text, its
// calls and the bytes of their arguments.

import {
  addressOf,
  type Checker,
  type ModelAnswer,
  messageKey,
  recordsOf,
  roundKey,
  turnKey,
} from '../../evidence.ts'

export const wholeModelAnswers: Checker = {
  name: 'whole-model-answers',
  rule: 'The conversation receives one whole answer of the model, never pieces of two.',
  needs: [],
  check(evidence) {
    const given = Map.groupBy(evidence.modelAnswers, ({ of }) => of)
    const messages = new Map(
      recordsOf(evidence, 'turn-started').map(({ message }) => [
        turnKey(message),
        messageKey(message),
      ]),
    )
    return recordsOf(evidence, 'round-outcome').flatMap((record) => {
      const { message } = record
      if (message.failure !== null) return []
      const answers =
        given.get(roundKey(message)) ?? given.get(messages.get(turnKey(message)) ?? '') ?? []
      const received = contentOf(message.response)
      if (answers.some((answer) => contentOf(answer, message.response) === received)) return []
      return [
        {
          problem: `the response ${received.slice(0, 400)} is none of the ${answers.length} answers of the model`,
          at: addressOf(record),
        },
      ]
    })
  },
}

type Content = Pick<ModelAnswer, 'text' | 'calls'>

/** An id that the provider did not note is that of the response. */
function contentOf({ text, calls }: Content, other?: Content): string {
  return JSON.stringify([
    text,
    calls.map(({ id, name, raw }, i) => [id === undefined ? other?.calls[i]?.id : id, name, raw]),
  ])
}
