// Functions of this process as tools, with a clock that the test moves.

import { describe, expect, it } from '@jest/globals'
import type { FunctionCall, FunctionTool } from '../../../../shared/agents/agents.ts'
import { startFunction } from '../../../../shared/tools/module/function.ts'
import type { ToolCall } from '../../../../shared/tools/tool.ts'
import { settled, testClock } from '../../../services/executor/performer-world.ts'

function started(
  run: FunctionTool['run'],
  fields: Partial<ToolCall> = {},
  more: Partial<FunctionTool> = {},
) {
  const clock = testClock()
  const call: ToolCall = {
    arguments: '{"city":"Paris"}',
    idempotencyKey: 'key',
    timeoutMs: 1_000,
    graceMs: 100,
    clock,
    ...fields,
  }
  return { clock, tool: startFunction({ kind: 'function', run, ...more }, call) }
}

describe('a function tool', () => {
  it('gets the parsed arguments, the idempotency key and the context', async () => {
    let seen: unknown
    const { tool } = started(
      (args, { idempotencyKey, context }) => {
        seen = { args, idempotencyKey, context }
      },
      { context: { userId: 'u1' } },
    )
    expect(await tool.ended).toEqual({ status: 'ok', text: '', reason: '' })
    expect(seen).toEqual({
      args: { city: 'Paris' },
      idempotencyKey: 'key',
      context: { userId: 'u1' },
    })
  })

  it.each([
    ['fails', () => Promise.reject(new Error('no answer')), 'error'],
    ['ignores its signal', () => new Promise(() => {}), 'unknown'],
  ])('reports the tokens of its agent when it %s', async (_, end, status) => {
    const tokens = { inputTokens: 7, outputTokens: 2 }
    const run: FunctionTool['run'] = (_args, { countTokens }) => {
      countTokens?.(tokens)
      return end()
    }
    const { clock, tool } = started(run, {}, { runsAgent: 'digger' })
    if (status === 'unknown') tool.stop(50, 'the turn was cancelled')
    clock.pass(50)
    expect(await tool.ended).toMatchObject({ status, tokens })
  })

  it('gets the value of its check in place of the arguments', async () => {
    const { tool } = started((args) => String(args), { value: 'checked' })
    expect(await tool.ended).toMatchObject({ status: 'ok', text: 'checked' })
  })

  it.each([
    ['a text', 'sunny', 'sunny'],
    ['an object', { degrees: 20 }, '{"degrees":20}'],
    ['nothing', undefined, ''],
  ])('returns %s as its result', async (_, value, text) => {
    const { tool } = started(async () => value)
    expect(await tool.ended).toEqual({ status: 'ok', text, reason: '' })
  })

  it('ends with an error if it throws, at once or later', async () => {
    const thrown = started(() => {
      throw new TypeError('no such city')
    })
    const rejected = started(() => Promise.reject(new TypeError('no such city')))
    for (const { tool } of [thrown, rejected])
      expect(await tool.ended).toMatchObject({
        status: 'error',
        text: 'The tool failed.\nIts error:\nTypeError: no such city',
        reason: 'TypeError: no such city',
      })
  })

  it('ends with an error if its result has no JSON', async () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    const { tool } = started(() => circle)
    expect(await tool.ended).toMatchObject({ status: 'error' })
  })

  it.each([
    ['a Map', () => new Map([['a', 1]]), 'Map has no JSON'],
    ['an error', () => new Error('x'), 'Error has no JSON'],
    [
      'a generator',
      async function* () {
        yield 1
      },
      'a generator has no JSON',
    ],
  ])('ends with an error if its result is %s, which would look empty', async (_, run, reason) => {
    const { tool } = started(run)
    expect(await tool.ended).toMatchObject({
      status: 'error',
      reason: expect.stringContaining(reason),
    })
  })

  it.each([{}, { a: undefined }, Object.create(null)])('may return %j', async (result) => {
    const { tool } = started(() => result)
    expect(await tool.ended).toMatchObject({ status: 'ok', text: '{}' })
  })

  it('aborts its signal at the timeout and may end in the grace', async () => {
    const { clock, tool } = started(untilAborted)
    await settled()
    clock.pass(1_000)
    expect(await tool.ended).toMatchObject({ status: 'timed_out' })
    expect((await tool.ended).fault).toBeUndefined()
  })

  it('reports a function that ignores its signal and drops its late result', async () => {
    const late = Promise.withResolvers<string>()
    const { clock, tool } = started(() => late.promise)
    await settled()
    clock.pass(1_000)
    await settled()
    clock.pass(100)
    const ending = await tool.ended
    late.resolve('too late')
    await settled()
    expect(ending).toMatchObject({
      status: 'timed_out',
      text: expect.stringContaining('may still be running'),
      fault: expect.stringContaining('ignores its signal'),
    })
    expect(await tool.ended).toBe(ending)
  })

  it('has an unknown outcome if a stop comes and it does not end', async () => {
    const { clock, tool } = started(() => new Promise(() => {}))
    tool.stop(50, 'the turn was cancelled')
    clock.pass(50)
    expect(await tool.ended).toMatchObject({
      status: 'unknown',
      reason: 'stopped: the turn was cancelled',
      fault: expect.stringContaining('ignores its signal'),
    })
  })

  it('keeps its result if it ends well after a stop', async () => {
    const { tool } = started(async (_, call) => {
      await untilAborted(_, call).catch(() => {})
      return 'done in time'
    })
    await settled()
    tool.stop(50, 'the turn was cancelled')
    expect(await tool.ended).toMatchObject({ status: 'ok', text: 'done in time' })
  })
})

function untilAborted(_: unknown, { signal }: FunctionCall): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}
