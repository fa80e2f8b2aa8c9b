// One contract for the adapters in the real SDKs, with a scripted model and a scripted Weir.

import { describe, expect, test } from '@jest/globals'
import { formatNamed } from '../../../shared/wire/formats.ts'
import { adapters } from './adapters.ts'
import type { Call } from './agent.ts'
import { advisesLoop, scriptedConversation, verdict } from './scripted-conversation.ts'

describe.each(adapters)(
  '$name',
  ({ run, format, asked, answered, free, results, keepsArguments }) => {
    /** A model that makes these calls, and then ends. */
    const once =
      (...calls: [args: string, ...rest: string[]]) =>
      (n: number): Call[] | string =>
        n === 1 ? calls.map((args, at) => [`c${at + 1}`, args]) : 'ok'
    const loop = (n: number): Call[] => [[`c${n}`, '{}']]

    test('passes an answer through, and shows Weir the request with its tools', async () => {
      const conversation = scriptedConversation()
      const { text } = await run(conversation, { answers: () => 'hello' })
      expect(text).toBe('hello')
      expect(conversation.asked).toMatchObject([{ format, body: asked }])
      expect(conversation.answered).toMatchObject([{ answer: answered }])
    })

    test('ends the loop of an empty call in text, after the actions of Weir', async () => {
      const conversation = scriptedConversation({
        advise: advisesLoop,
        judge: () => [1, 2, 3, 4].map((n) => verdict.run(`c${n}`)),
      })
      const { text, requests, choices } = await run(conversation, { answers: loop })
      expect(requests).toHaveLength(4)
      expect(JSON.stringify(requests[2])).toContain('failed the same way twice')
      expect(JSON.stringify(requests[3])).not.toContain('failed the same way twice')
      expect(choices).toEqual([free, free, free, 'none'])
      expect(text).toBe('Weir ended the turn: The agent repeated a failing call.')
    })

    test.each(['{}', '{"command":"ls"}', '{bad'])(
      'keeps a refused call of %s from running, and the model reads the refusal',
      async (args) => {
        const refusal = verdict.refuse('c1', 'Not on a Friday.')
        const conversation = scriptedConversation({ judge: () => [refusal] })
        const { text, ran, requests } = await run(conversation, { answers: once(args) })
        expect([text, ran]).toEqual(['ok', []])
        expect(results(requests[1] ?? {})).toEqual([{ callId: 'c1', text: 'Not on a Friday.' }])
        expect(callsOf(conversation.asked[1]?.body)).toEqual([args])
      },
    )

    test('runs the allowed ones of parallel calls, and shows Weir their own arguments', async () => {
      const conversation = scriptedConversation({
        judge: () => [verdict.run('c1'), verdict.refuse('c2', 'no'), verdict.run('c3')],
      })
      const args = [
        '{ "command": "ls" }',
        '{"command":"rm"}',
        '{"command":"pwd","extra":1}',
      ] as const
      const { ran } = await run(conversation, { answers: once(...args) })
      expect(ran.toSorted()).toEqual(['ls', 'pwd'])
      const shown = callsOf(conversation.asked[1]?.body)
      if (keepsArguments) expect(shown).toEqual(args)
      expect(shown.map((text) => JSON.parse(text))).toEqual(args.map((text) => JSON.parse(text)))
    })

    test('answers an unreadable call next to one that runs', async () => {
      const conversation = scriptedConversation({
        judge: () => [verdict.run('c1'), verdict.refuse('c2', 'The arguments are no JSON.')],
      })
      const { ran, requests } = await run(conversation, {
        answers: once('{"command":"ls"}', '{bad'),
      })
      expect(ran).toEqual(['ls'])
      const texts = results(requests[1] ?? {}).map(({ text }) => text)
      expect(texts.toSorted()).toEqual(['The arguments are no JSON.', 'done'])
    })

    test('holds a call until a person has approved it', async () => {
      const conversation = scriptedConversation({
        judge: (_, n) => [n < 3 ? verdict.wait('c1') : verdict.run('c1')],
      })
      const { ran } = await run(conversation, { answers: once('{"command":"ls"}') })
      expect(ran).toEqual(['ls'])
      expect(conversation.answered.length).toBeGreaterThanOrEqual(3)
    })

    test('refuses a call without a verdict, and a call that Weir cannot judge', async () => {
      const answers = once('{"command":"ls"}')
      expect((await run(scriptedConversation(), { answers })).ran).toEqual([])
      const broken = scriptedConversation({
        judge: (_, n) => {
          if (n === 2) throw new Error('the log is closed')
          return [verdict.run('c1')]
        },
      })
      const { ran, requests } = await run(broken, { answers })
      expect(ran).toEqual([])
      expect(results(requests[1] ?? {})).toMatchObject([
        { text: expect.stringContaining('the log is closed') },
      ])
    })

    /** The argument texts that Weir reads in a history. */
    function callsOf(request: unknown): string[] {
      const { transcript } = formatNamed(format)
      const { pieces } = transcript.read({ request, answer: undefined }, 'body')
      return pieces.flatMap((piece) => (piece.kind === 'call' ? [piece.arguments] : []))
    }
  },
)
