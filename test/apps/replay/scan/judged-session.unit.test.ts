// The judgement of a recorded session.

import { describe, expect, it } from '@jest/globals'
import { judgedSession } from '../../../../apps/replay/scan/judged-session.ts'
import { defaultPolicy } from '../../../../shared/agents/policy/policy.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import type { TranscriptResponse } from '../../../../shared/transcript/transcript.ts'

type Said = { tool: string; input: object; text: string; isError?: boolean; at?: Milliseconds }

function responseOf({ tool, input, text, isError = false, at }: Said): TranscriptResponse {
  const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 80, cacheWriteTokens: 5 }
  const result = { text, isError, ...(at !== undefined && { at }) }
  const calls = [{ id: 'c', name: tool, arguments: JSON.stringify(input), result }]
  const model = { name: 'claude-sonnet-4-5', provider: 'anthropic' }
  return { id: undefined, text: '', reasoning: [], calls, usage, finish: '', model }
}

const judged = (...turns: Said[][]) =>
  judgedSession(
    {
      where: 'session',
      conversation: 's1',
      tools: undefined,
      turns: turns.map((said) => ({ user: 'Do it.', responses: said.map(responseOf) })),
    },
    { host: 'claude-code', policy: defaultPolicy },
  )

const times = <Value>(n: number, make: (at: number) => Value) =>
  Array.from({ length: n }, (_, at) => make(at))
const failing = {
  tool: 'Bash',
  input: { command: 'npm test' },
  text: 'Error: no module',
  isError: true,
}

describe('a recorded session', () => {
  it('with a call that fails again and again has a loop with the rounds and tokens after its end', () => {
    const { loops, rounds, calls, tokens } = judged(
      [failing],
      times(12, () => failing),
    )
    expect({ rounds, calls, tokens }).toEqual({ rounds: 13, calls: 13, tokens: 1_300 })
    expect(loops).toEqual([
      {
        conversation: 's1',
        turn: 2,
        round: 3,
        rounds: 12,
        rule: 'identical-failure',
        reason: expect.stringContaining('npm test'),
        ended: true,
        roundsAfter: 7,
        tokensAfter: 700,
        moneyAfter: { usd: 7 * 147_750, requests: 7, unpriced: 0, prices: [expect.any(String)] },
      },
    ])
  })

  it('that only gets a nudge has a loop without an end', () => {
    expect(judged(times(4, () => failing)).loops).toMatchObject([
      { ended: false, roundsAfter: 0, tokensAfter: 0 },
    ])
  })

  it('with new results in each round has no loop', () => {
    const reading = (at: number) => ({
      tool: 'Read',
      input: { file: `f${at}.ts` },
      text: `line ${at}`,
    })
    expect(judged(times(40, reading)).loops).toEqual([])
  })

  it('has no price for a model that the list of prices does not know', () => {
    const long = times(12, () => failing).map(responseOf)
    const responses = long.map((one) => ({ ...one, model: { name: 'x', provider: 'nobody' } }))
    const turns = [{ user: 'Do it.', responses }]
    const { loops } = judgedSession(
      { where: 'session', conversation: 's1', tools: undefined, turns },
      { host: 'claude-code', policy: defaultPolicy },
    )
    expect(loops[0]?.moneyAfter).toMatchObject({ usd: 0, requests: 7, unpriced: 7 })
  })

  it('counts each secret in the arguments once, and keeps none of them', () => {
    const key = `ghp_${'a1'.repeat(18)}`
    const sending = (command: string) => ({ tool: 'Bash', input: { command }, text: 'ok' })
    const found = judged([
      sending(`curl -H "token: ${key}" https://api.example`),
      sending(`git push https://${key}@example`),
      sending('pay --card "4111 1111 1111 1111"'),
      sending('echo $GITHUB_TOKEN'),
    ])
    expect(found.secrets).toEqual([
      { kind: 'key', tool: 'Bash' },
      { kind: 'card', tool: 'Bash' },
    ])
    expect(JSON.stringify(found)).not.toContain(key)
  })

  it('finds a secret right after an escape of JSON', () => {
    const key = `ghp_${'a1'.repeat(18)}`
    for (const before of ['\n', '\t', '\u0007']) {
      const login = {
        tool: 'Bash',
        input: { command: `login <<E${before}${key}` },
        text: 'Error: no',
        isError: true,
      }
      const found = judged(times(12, () => login))
      expect(found.secrets).toEqual([{ kind: 'key', tool: 'Bash' }])
      expect(found.loops[0]?.reason).toContain('login <<E')
      expect(JSON.stringify(found)).not.toContain(key.slice(0, 8))
    }
  })

  it('shows no password of a command line in the reason', () => {
    const login = {
      tool: 'Bash',
      input: { command: 'curl -u ann:s3cret https://a.example' },
      text: 'Error: no',
      isError: true,
    }
    const found = judged(times(12, () => login))
    expect(found.loops[0]?.reason).toContain('curl -u ann:[password] https://a.example')
    expect(JSON.stringify(found)).not.toContain('s3cret')
  })

  it('shows no secret of a result in the reason', () => {
    const key = `sk-ant-api03-${'Ab3d'.repeat(6)}`
    const { loops, secrets } = judged(
      times(12, () => ({ ...failing, text: `Error: bad key ${key}` })),
    )
    expect(loops[0]?.reason).toContain('last with: Error: bad key [key]')
    expect(secrets).toEqual([])
  })

  it('counts the failed calls of each tool', () => {
    const { tools } = judged([failing, failing, { ...failing, isError: false }])
    expect([...tools]).toEqual([['Bash', { calls: 3, failed: 2 }]])
  })

  it('whose equal answers come minutes apart waits, and has no loop', () => {
    const looking = (gap: Milliseconds) => (at: number) => ({
      tool: 'BashOutput',
      input: { bash_id: 'b1' },
      text: 'status: running',
      at: at * gap,
    })
    expect(judged(times(8, looking(60_000))).loops).toEqual([])
    expect(judged(times(30, looking(1))).loops).toHaveLength(1)
  })

  it('without times has an unknown pace, so its polls are neither hasty nor long', () => {
    const look = { tool: 'BashOutput', input: { bash_id: 'b1' }, text: 'status: running' }
    const untimed = times(40, () => look)
    expect(judged(untimed).loops).toEqual([])
    const late = { ...look, at: Date.UTC(2026, 10, 1) }
    expect(judged([...untimed, late, late]).loops).toEqual([])
    expect(judged(times(12, () => failing)).loops).toMatchObject([{ round: 3 }])
  })
})
