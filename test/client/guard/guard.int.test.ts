// weir-agents/guard with its stages, in memory and in a data folder.

import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type GuardOptions, openGuard } from '../../../client/guard/guard.ts'
import type { GuardSession, GuestFormat } from '../../../client/guard/guest-conversation.ts'
import { anthropic, defineAgent, Weir } from '../../../client/weir.ts'
import onceGuard from '../../../services/guards/once/guard.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { decode } from '../../../shared/codec/codec.ts'
import type { Guard as WeirGuard } from '../../../shared/contract/guard/guard.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { declarationOf } from '../../../shared/transcript/transcript.ts'
import { answerOf, requestOf, type Said, saidCall, saidText } from '../../support/guest-requests.ts'
import { noHints } from '../../support/messages.ts'
import { waitMaxMs } from '../../support/wait-limit.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

async function openedWith(options: Partial<GuardOptions> = {}): Promise<GuardSession> {
  const guard = await openGuard({ agent: 'coder', answerWithinMs: waitMaxMs, ...options })
  open.push(guard)
  return guard
}
const guardWith = openedWith

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'guard-'))
  open.push({ close: async () => rmSync(folder, { recursive: true }) })
  return folder
}

const helper = defineAgent({
  name: 'a',
  system: 's',
  tools: [],
  model: anthropic('m', { baseUrl: 'http://127.0.0.1:1' }),
})

const tools = [
  declarationOf('exec', '', {
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
  }),
]
const asked = (responses: Said[]) => requestOf('anthropic', [{ user: 'Go.', responses }], tools)
const broken = saidCall('exec', {}, { id: 'same', result: 'error: no command', isError: true })
const good = saidCall('exec', { command: 'ls' }, { id: 'c', result: 'a.ts' })

const judgedBy = (judge: WeirGuard['judge']): WeirGuard => ({
  name: 'own',
  version: '1',
  tools: ['exec'],
  deadlineMs: 60_000,
  onTimeout: 'deny',
  judge,
})
const pass: WeirGuard['judge'] = (_, { calls }) => ({
  state: undefined,
  verdicts: calls.map(({ ordinal }) => ({ ordinal, verdict: 'allow', code: '', text: '' })),
})

describe('the guard once', () => {
  it('lets a failed call of a guest run again, and denies the call after a success', async () => {
    const hints = {
      exec: {
        ...noHints,
        poll: false,
        once: { by: ['command'], forMs: 60_000, within: 'conversation' as const },
      },
    }
    const guards = { guards: [{ ...onceGuard(), deadlineMs: 60_000 }], mode: 'enforce' as const }
    const guard = await guardWith({ agent: { name: 'coder', hints }, guards })
    const conversation = guard.conversation('t')
    const pay = (id: string, result: string, isError = false) =>
      saidCall('exec', { command: 'pay 17' }, { id, result, isError })
    const calls = [pay('a', 'error: down', true), pay('b', 'receipt 4711'), pay('c', '')]
    const texts: string[] = []
    for (const [nth, call] of calls.entries()) {
      await conversation.beforeModel(asked(calls.slice(0, nth)))
      const [verdict] = await conversation.afterModel(answerOf(asked(calls.slice(0, nth)), call))
      texts.push(verdict?.verdict === 'deny' ? verdict.text : `${verdict?.verdict}`)
    }
    expect(texts).toEqual([
      'allow',
      'allow',
      expect.stringMatching(/Its result was:\nreceipt 4711$/),
    ])
  })

  it('is needed for each call of a `once` tool', async () => {
    const hints = {
      exec: {
        ...noHints,
        poll: false,
        once: { by: [], forMs: 60_000, within: 'conversation' as const },
      },
    }
    const guard = await guardWith({ agent: { name: 'coder', hints } })
    expect(await guard.conversation('t').afterModel(answerOf(asked([]), good))).toMatchObject([
      {
        verdict: 'deny',
        text: expect.stringContaining('the guard "once" that sees to it is not in force'),
      },
    ])
  })
})

describe('the options of a guard', () => {
  const agent = 'coder'
  it.each<[string, unknown, string]>([
    ['no options', undefined, "openGuard needs an object of options, such as { agent: 'ops' }"],
    [
      'a misspelt agent',
      { agnet: 'ops' },
      'unknown option agnet of openGuard; the options are agent, mode',
    ],
    ['no agent', {}, 'agent is missing; must be the name of a guest'],
    ['a number as agent', { agent: 5 }, 'agent is 5; must be the name of a guest'],
    [
      'an unknown option of the agent',
      { agent: { name: 'ops', hint: {} } },
      'unknown option hint of agent; did you mean hints?',
    ],
    [
      'settings with another name',
      { agent: { name: 'ops', settings: { polcy: {} } } },
      'unknown option polcy of agent.settings; did you mean policy?',
    ],
    ['another mode', { agent, mode: 'block' }, 'mode is "block"; must be blocking or observing'],
    [
      'a misspelt folder',
      { agent, dataFoldr: 'x' },
      'unknown option dataFoldr of openGuard; did you mean',
    ],
    [
      'a misspelt list',
      { agent, guard: 'x' },
      'unknown option guard of openGuard; did you mean guards?',
    ],
    [
      'a list as guards',
      { agent, guards: [] },
      'guards is a list of 0; must be an object with a list',
    ],
    [
      'a guard as guards',
      { agent, guards: { guards: 1 } },
      'such as guards: { guards: [yours], mode:',
    ],
    [
      'a mode of the list',
      { agent, guards: { guards: [], mode: 'on' } },
      'must be shadow or enforce',
    ],
    [
      'a key of guards',
      { agent, guards: { guards: [], modes: 'x' } },
      'option modes of guards; did you mean',
    ],
    ['another part', { agent, record: 'none' }, 'record is "none"; must be all or calls'],
    [
      'another word',
      { agent, onUnavailable: 'stop' },
      'onUnavailable is "stop"; must be allow or deny',
    ],
    [
      'a text as time',
      { agent, answerWithinMs: '5' },
      'answerWithinMs is "5"; must be a number of',
    ],
    ['a text as secrets', { agent, secrets: 'x' }, 'secrets is a text; must be a list of texts'],
    ['a number as folder', { agent, dataFolder: 5 }, 'dataFolder is 5; must be a text'],
    ['a text as Kafka', { agent, kafka: 'h:1' }, 'kafka needs an object of options, such as'],
  ])('refuses %s and names the values that it accepts', async (_, given, message) => {
    const error = { code: 'settings.invalid', message: expect.stringContaining(message) }
    await expect(openGuard(given as GuardOptions)).rejects.toMatchObject(error)
  })

  it('refuses an id of a conversation that is no text, and an unknown option of it', async () => {
    const guard = await guardWith()
    const given = guard.conversation as (id: unknown, options?: unknown) => unknown
    expect(() => given(5)).toThrow('the id of the conversation is 5; must be a text')
    expect(() => given('t', { turns: 'x' })).toThrow(
      'unknown option turns of conversation; did you',
    )
  })
})

const places = ['in memory', 'in a data folder'] as const

describe.each(places)('a guard %s', (place) => {
  async function guardWith(options: Partial<GuardOptions> = {}): Promise<GuardSession> {
    return openedWith({
      ...options,
      ...(place === 'in a data folder' && { dataFolder: newFolder() }),
    })
  }

  it('ends an agent that repeats a broken call under one id after 5 requests', async () => {
    const conversation = (await guardWith()).conversation('t')
    const responses: Said[] = []
    const actions: string[] = []
    for (;;) {
      const request = asked(responses)
      const { action, judged } = await conversation.beforeModel(request)
      expect(judged).toBe(true)
      actions.push(action)
      if (action === 'end') break
      const [verdict] = await conversation.afterModel(answerOf(request, broken))
      expect(verdict?.verdict).toBe('deny')
      responses.push(broken)
    }
    expect(actions).toEqual(['none', 'none', 'none', 'nudge', 'text_only', 'end'])
  })

  it('lets a valid call run, and judges its turn to the end', async () => {
    const conversation = (await guardWith()).conversation('t')
    expect(await conversation.afterModel(answerOf(asked([]), good))).toMatchObject([
      { callId: 'c', verdict: 'allow' },
    ])
    const advice = await conversation.beforeModel(asked([good]))
    expect(advice).toMatchObject({ action: 'none', judged: true })
    expect(await conversation.afterModel(answerOf(asked([good]), saidText('Done.')))).toEqual([])
  })

  it('gives an equal answer the same verdict, because hosts restore an answer after a wait', async () => {
    const guard = await guardWith()
    const answered = () => guard.conversation('t').afterModel(answerOf(asked([]), good))
    expect(await answered()).toMatchObject([{ verdict: 'allow' }])
    expect(await answered()).toMatchObject([{ verdict: 'allow' }])
  })

  it('gives the same answers to repeated requests', async () => {
    const guard = await guardWith()
    const ask = () => guard.conversation('t').beforeModel(asked([broken, broken, broken]))
    const [first, second] = [await ask(), await ask()]
    expect(first.action).toBe('nudge')
    expect(second).toEqual(first)
  })

  it("has the fallback of the guest's file in the advice to end a turn, and in no other", async () => {
    const settings = { fallback: 'Please call us.', policy: undefined }
    const guard = await guardWith({ agent: { name: 'coder', settings } })
    const conversation = guard.conversation('t')
    const rounds = Array.from({ length: 6 }, () => broken)
    const texts: string[] = []
    for (let n = 1; n <= rounds.length; n += 1) {
      const { action, fallback } = await conversation.beforeModel(asked(rounds.slice(0, n)))
      texts.push(`${action}: ${fallback}`)
      if (action === 'end') break
    }
    expect(texts.at(-1)).toBe('end: Please call us.')
    expect(new Set(texts.slice(0, -1).map((text) => text.split(': ')[1]))).toEqual(new Set(['']))
  })

  it('puts the advice into a copy of the request', async () => {
    const request = asked([broken, broken, broken])
    const before = JSON.stringify(request.body)
    const advice = await (await guardWith()).conversation('t').beforeModel(request)
    expect(JSON.stringify(request.body)).toBe(before)
    const applied = advice.applied as { messages: { content: unknown[] }[] }
    expect(applied.messages.at(-1)?.content.at(-1)).toEqual({ type: 'text', text: advice.text })
  })

  it('refuses a call by a guard of the program', async () => {
    const noExec: WeirGuard = {
      name: 'no-exec',
      version: '1',
      tools: ['exec'],
      deadlineMs: 60_000,
      onTimeout: 'deny',
      judge: (_state, round) => ({
        state: undefined,
        verdicts: round.calls.map(({ ordinal }) => ({
          ordinal,
          verdict: 'deny' as const,
          code: 'no',
          text: 'Not today.',
        })),
      }),
    }
    const guard = await guardWith({ guards: { guards: [noExec], mode: 'enforce' } })
    const [verdict] = await guard.conversation('t').afterModel(answerOf(asked([]), good))
    expect(verdict).toMatchObject({
      verdict: 'deny',
      text: expect.stringContaining('Not today.'),
    })
  })

  it('names the place of a mistake in a history', async () => {
    const conversation = (await guardWith()).conversation('t')
    const body = { messages: [{ role: 'robot' }] }
    await expect(conversation.beforeModel({ format: 'anthropic', body })).rejects.toMatchObject({
      code: 'guest.format',
    })
  })

  const chatCall = {
    message: {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'exec', arguments: '{}' } }],
    },
  }
  const chatAnswer = { choices: [chatCall] }
  const response = 'must be the response of the API, with choices, or its message'
  it.each<[string, GuestFormat, unknown, string]>([
    ['a text', 'openai-chat', JSON.stringify(chatAnswer), `answer is a text; ${response}`],
    ['no answer', 'openai-chat', undefined, `answer is missing; ${response}`],
    ['a promise', 'openai-chat', Promise.resolve(chatAnswer), 'answer is a promise: await it'],
    ['the wrapper of a client', 'openai-chat', { data: chatAnswer }, `is a mapping; ${response}`],
    ['a chunk of a stream', 'openai-chat', { choices: [{ delta: chatCall.message }] }, response],
    [
      'a second choice',
      'openai-chat',
      { choices: [{ message: { role: 'assistant', content: 'Hi' } }, chatCall] },
      'answer.choices[1] is a further choice',
    ],
    ['an answer of OpenAI', 'anthropic', chatAnswer, 'must be the message of the API'],
    ['an event of a stream', 'openai-responses', { type: 'response.completed' }, 'with output'],
    ['an error', 'anthropic', { type: 'error', error: {} }, 'answer is an error; must be the'],
    ['calls without content', 'ai-sdk', { toolCalls: [{}] }, 'must be the result of the model'],
    ['a number', 'langchain', 7, 'answer is a number; must be the AI message'],
  ])('refuses an answer that is %s in the format %s', async (_, format, answer, message) => {
    const conversation = (await guardWith()).conversation('t')
    const messages = [{ role: 'user', content: 'Go.' }]
    const body = format === 'openai-responses' ? { input: 'Go.' } : { messages }
    await expect(
      conversation.afterModel({ request: { format, body }, answer }),
    ).rejects.toMatchObject({ code: 'guest.format', message: expect.stringContaining(message) })
  })

  it.each([
    ['beforeModel', undefined, 'beforeModel needs the request of the agent, such as { format:'],
    ['afterModel', undefined, 'afterModel({ request, answer }) needs the request of the agent'],
    ['reportResults', undefined, 'results is missing; must be a list'],
    ['reportResults', {}, 'results is a mapping; must be a list'],
    ['reportResults', [null], 'results[0] is empty; must be an object'],
    ['reportResults', [{ text: '', status: 'ok' }], 'results[0].callId is missing; must be a text'],
    [
      'reportResults',
      [{ callId: 'c', text: '', status: 'fine' }],
      'results[0].status is "fine"; must be ok, error, unknown or skipped',
    ],
    [
      'reportResults',
      [{ callId: 'c', text: '', status: 'ok', nth: -1 }],
      'results[0].nth is -1; must be a whole number from 0 on',
    ],
  ])('%s refuses %j', async (name, argument, message) => {
    const conversation = (await guardWith()).conversation('t')
    const call = Reflect.get(conversation, name) as (given: unknown) => Promise<unknown>
    await expect(call(argument)).rejects.toMatchObject({
      code: 'guest.format',
      message: expect.stringContaining(message),
    })
  })

  it('lets one of forty equal calls of a response run, and refuses the others', async () => {
    const conversation = (await guardWith()).conversation('t')
    const calls = Array.from({ length: 40 }, () => good.calls[0]).flatMap((call) => call ?? [])
    const verdicts = await conversation.afterModel(answerOf(asked([]), { text: '', calls }))
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(
      calls.map((_, place) => (place === 0 ? 'allow' : 'deny')),
    )
    expect(verdicts[1]?.code).toBe('guest.repeated')
    const advice = await conversation.beforeModel(asked([{ text: '', calls }]))
    expect(advice.judged).toBe(true)
  })

  it('refuses a call that no person has decided in time', async () => {
    const rules = [{ name: 'commands', tools: ['exec'] }]
    const guard = await guardWith({ approvals: { rules, waitMs: 4_000 } })
    const conversation = guard.conversation('t')
    const answer = answerOf(asked([]), good)
    // The log has the question once, so only a look that is open at that moment shows its id.
    const [waits] = await conversation.afterModel(answer, { waitMs: 2_000 })
    expect(waits).toMatchObject({ verdict: 'pending', code: 'approval.pending' })
    expect(waits?.approval).toMatchObject({ id: expect.any(String), hash: expect.any(String) })
    const [verdict] = await conversation.afterModel(answer)
    expect(verdict).toMatchObject({ verdict: 'deny', code: 'approval.denied' })
  })

  it('keeps the state of a guard from round to round', async () => {
    const judge: WeirGuard['judge'] = (state, round) => {
      const count = ((state as { count?: number } | undefined)?.count ?? 0) + 1
      const { verdicts } = pass(undefined, round)
      if (count === 1) return { state: { count }, verdicts }
      const no = verdicts.map(({ ordinal }) => ({
        ordinal,
        verdict: 'deny' as const,
        code: 'no',
        text: 'Once is enough.',
      }))
      return { state: { count }, verdicts: no }
    }
    const guard = await guardWith({ guards: { guards: [judgedBy(judge)], mode: 'enforce' } })
    const conversation = guard.conversation('t')
    const [first] = await conversation.afterModel(answerOf(asked([]), good))
    expect(first).toMatchObject({ verdict: 'allow' })
    const again = saidCall('exec', { command: 'pwd' }, { id: 'd' })
    const [second] = await conversation.afterModel(answerOf(asked([good]), again))
    expect(second).toMatchObject({ verdict: 'deny', code: 'guard.denied' })
  })

  it('refuses a call on which a guard throws, and decides nothing by a guard in shadow mode', async () => {
    const throws = () => {
      throw new Error('broken')
    }
    const log = pino({ level: 'silent' })
    const strict = await guardWith({ guards: { guards: [judgedBy(throws)], mode: 'enforce' }, log })
    const [refused] = await strict.conversation('t').afterModel(answerOf(asked([]), good))
    expect(refused).toMatchObject({ verdict: 'deny', code: 'guard.denied' })
    const shadow = await guardWith({ guards: { guards: [judgedBy(throws)] }, log })
    const [allowed] = await shadow.conversation('t').afterModel(answerOf(asked([]), good))
    expect(allowed).toMatchObject({ verdict: 'allow' })
  })

  it('refuses two guards with one name that differ', async () => {
    const guards = [judgedBy(pass), { ...judgedBy(pass), version: '2' }]
    await expect(guardWith({ guards: { guards } })).rejects.toMatchObject({ code: 'guard.invalid' })
  })

  it('ends a turn that was left, and opens the next one', async () => {
    const conversation = (await guardWith()).conversation('t')
    await conversation.afterModel(answerOf(asked([]), good))
    await conversation.reportResults([{ callId: 'c', status: 'ok', text: 'a.ts' }])
    await conversation.endTurn()
    expect(await conversation.afterModel(answerOf(asked([good]), good))).toMatchObject([
      { verdict: 'deny', code: 'guest.over' },
    ])
  })
})

describe('a repeated call before another call of the same id', () => {
  it('takes no verdict of the other call', async () => {
    const conversation = (await guardWith()).conversation('t')
    const calls = [good, good, saidCall('exec', { command: 'pwd' }, { id: 'c' })].flatMap(
      (said) => said.calls,
    )
    const verdicts = await conversation.afterModel(answerOf(asked([]), { text: '', calls }))
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['allow', 'deny', 'allow'])
  })
})

describe('a response above the limits', () => {
  const calls = Array.from({ length: limits.responseCallsMax + 1 }, (_, n) => ({
    id: `c${n}`,
    name: 'exec',
    arguments: '{"command":"ls"}',
    result: undefined,
  }))
  const answer = answerOf(asked([]), { text: '', calls })

  it('runs no call of a blocking front, and says why', async () => {
    const verdicts = await (await guardWith()).conversation('t').afterModel(answer)
    expect(verdicts).toHaveLength(calls.length)
    expect(new Set(verdicts.map(({ verdict, code }) => `${verdict} ${code}`))).toEqual(
      new Set(['deny guest.limits']),
    )
    expect(verdicts[0]?.text).toContain(`${limits.responseCallsMax} calls`)
  })

  it('runs the calls of a front that only observes', async () => {
    const guard = await guardWith({ mode: 'observing' })
    const verdicts = await guard.conversation('t').afterModel(answer)
    expect(new Set(verdicts.map(({ verdict }) => verdict))).toEqual(new Set(['allow']))
  })
})

describe('a guard in memory', () => {
  it('ends a call that waits when it is closed, and judges nothing later', async () => {
    const rules = [{ name: 'commands', tools: ['exec'] }]
    const log = pino({ level: 'silent' })
    const guard = await guardWith({ approvals: { rules }, log })
    const waiting = guard.conversation('t').afterModel(answerOf(asked([]), good))
    await guard.conversation('t').afterModel(answerOf(asked([]), good), { waitMs: 0 })
    await guard.close()
    const refused = [{ verdict: 'deny', code: 'guest.unavailable' }]
    expect(await waiting).toMatchObject(refused)
    expect(await guard.conversation('u').afterModel(answerOf(asked([]), good))).toMatchObject(
      refused,
    )
    expect(await guard.conversation('u').beforeModel(asked([]))).toMatchObject({ judged: false })
  })

  it('keeps its process alive while a call waits for a person, and no longer', async () => {
    const file = new URL('../../../client/guard/guard.ts', import.meta.url).href
    const program = `
      const { openGuard } = await import(${JSON.stringify(file)})
      const approvals = { rules: [{ name: 'all', tools: ['exec'] }], waitMs: 2_000 }
      const guard = await openGuard({ agent: 'coder', approvals })
      const given = ${JSON.stringify(answerOf(asked([]), good))}
      const [call] = await guard.conversation('t').afterModel(given)
      console.log(call.code)
    `
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    expect(stdout.trim()).toBe('approval.denied')
  })

  it('judges conversations at once', async () => {
    const guard = await guardWith()
    const verdicts = await Promise.all(
      Array.from({ length: 300 }, (_, n) =>
        guard.conversation(`t${n}`).afterModel(answerOf(asked([]), n % 2 === 0 ? good : broken)),
      ),
    )
    expect(verdicts.map(([call]) => call?.verdict)).toEqual(
      verdicts.map((_, n) => (n % 2 === 0 ? 'allow' : 'deny')),
    )
  })

  // The stages are loaded by then, so a load takes only microtasks.
  it('judges a call that comes at any step of the load of a stage', async () => {
    for (let steps = 0; steps < 80; steps += 1) {
      const guard = await guardWith({ answerWithinMs: 5_000 })
      const later = guard.conversation('later')
      await guard.conversation('first').beforeModel(asked([]))
      await later.beforeModel(asked([]))
      const first = guard.conversation('first').afterModel(answerOf(asked([]), good))
      await microtasks(steps)
      const second = later.afterModel(answerOf(asked([]), good))
      const verdicts = (await Promise.all([first, second])).flat()
      expect(verdicts.map(({ verdict }) => verdict)).toEqual(['allow', 'allow'])
      await guard.close()
    }
  })

  it('gives a guard of the program no round after its close, at any step of a load', async () => {
    for (let steps = 0; steps < 80; steps += 2) {
      let isClosed = false
      let late = 0
      const judge: WeirGuard['judge'] = (state, round) => {
        if (isClosed) late += 1
        return pass(state, round)
      }
      const guards = { guards: [judgedBy(judge)], mode: 'enforce' as const }
      const guard = await guardWith({ guards, log: pino({ level: 'silent' }) })
      const judged = guard.conversation('t').afterModel(answerOf(asked([]), good))
      await microtasks(steps)
      await guard.close()
      isClosed = true
      await judged
      expect(late).toBe(0)
    }
  })
})

async function microtasks(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await null
}

describe('a guard in a data folder', () => {
  it('knows the rounds of a history after it was closed and opened again', async () => {
    const folder = newFolder()
    const first = await guardWith({ dataFolder: folder })
    const conversation = first.conversation('t')
    expect((await conversation.beforeModel(asked([broken, broken, broken]))).action).toBe('nudge')
    await first.close()
    expect(existsSync(join(folder, 'weir.db'))).toBe(true)
    const second = await guardWith({ dataFolder: folder })
    const advice = await second.conversation('t').beforeModel(asked([broken, broken, broken]))
    expect(advice).toMatchObject({ action: 'nudge', judged: true })
  })

  it("has no text of a conversation in its log with record: 'calls', and still ends a loop", async () => {
    const folder = newFolder()
    const guard = await guardWith({ dataFolder: folder, record: 'calls' })
    const conversation = guard.conversation('t')
    const responses: Said[] = []
    const texts = ['asked-text', 'spoken-text', 'thought-text', 'result-text', 'early-text']
    const [user = '', text = '', thinking = '', result = '', early = ''] = texts
    const request = () => requestOf('anthropic', [{ user, responses }], tools)
    const actions: string[] = []
    for (let n = 0; n < 6; n += 1) {
      actions.push((await conversation.beforeModel(request())).action)
      const call = saidCall('exec', { command: 'kept-command' }, { id: `c${n}`, result })
      const said: Said = { ...call, text }
      const given = answerOf(request(), said)
      const { content } = given.answer as { content: unknown[] }
      const block = { type: 'thinking', thinking, signature: '' }
      const answer = { ...(given.answer as object), content: [block, ...content] }
      await conversation.afterModel({ ...given, answer })
      responses.push(said)
    }
    await conversation.beforeModel(request())
    await conversation.afterModel(answerOf(request(), good))
    await conversation.reportResults([{ callId: 'c', status: 'error', text: early }])
    responses.push({ ...good, calls: good.calls.map((call) => ({ ...call, result: undefined })) })
    await conversation.afterModel(answerOf(request(), saidText(text)))
    await guard.close()
    expect(actions).toEqual(['none', 'none', 'none', 'none', 'none', 'nudge'])

    const weir = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    open.push(weir)
    const records: string[] = []
    for (const { name: topic } of topicSpecs('weir.', 1))
      for (const { partition } of await weir.ends(topic))
        for (const { value } of await weir.read({ topic, partition, from: 0, limit: 10_000 }))
          records.push(JSON.stringify(decode(value ?? new Uint8Array())))
    expect(records.filter((record) => record.includes('kept-command')).length).toBeGreaterThan(6)
    expect(records.filter((record) => texts.some((one) => record.includes(one)))).toEqual([])
  })

  it('has none of its secrets in the log, and its guards get a word in their place', async () => {
    const folder = newFolder()
    const secret = 'sk-live-4f9a8b7c6d5e'
    const seen: unknown[] = []
    const own = judgedBy((state, round) => {
      seen.push(...round.calls.map(({ arguments: text }) => text))
      return pass(state, round)
    })
    const guard = await guardWith({
      dataFolder: folder,
      secrets: [secret],
      guards: { guards: [own], mode: 'enforce' },
    })
    const call = saidCall('exec', { command: `echo ${secret}` }, { id: 'c', result: secret })
    const verdicts = await guard.conversation('t').afterModel(answerOf(asked([]), call))
    await guard.conversation('t').beforeModel(asked([call]))
    await guard.close()
    expect(verdicts).toMatchObject([{ callId: 'c', verdict: 'allow' }])
    expect(seen).toEqual([{ command: 'echo [key]' }])
    const log = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
    expect(log.join('')).toContain('echo [key]')
    expect(log.join('')).not.toContain(secret)
  })

  it('has the reply and the end of the turn in the log when it was closed right after it', async () => {
    const folder = newFolder()
    const guard = await guardWith({ dataFolder: folder })
    const stopped = guard.conversation('d')
    await stopped.afterModel(answerOf(asked([]), good))
    await stopped.reportResults([{ callId: 'c', status: 'ok', text: 'a.ts' }])
    await Promise.all(
      ['a', 'b', 'c'].map(async (id) => {
        const conversation = guard.conversation(id)
        await conversation.afterModel(answerOf(asked([]), good))
        await conversation.beforeModel(asked([good]))
      }),
    )
    const reply = answerOf(asked([good]), saidText('Done.'))
    await Promise.all([
      ...['a', 'b', 'c'].map((id) => guard.conversation(id).afterModel(reply)),
      stopped.endTurn(),
    ])
    await guard.close()
    const weir = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    open.push(weir)
    const ends: [string, string][] = []
    for (const { partition } of await weir.ends('weir.activity'))
      for (const { value } of await weir.read({
        topic: 'weir.activity',
        partition,
        from: 0,
        limit: 10_000,
      })) {
        const message = decode(value ?? new Uint8Array())
        if (message.type === 'turn-finished') ends.push([message.conversation, message.outcome])
      }
    expect(ends.sort()).toEqual([
      ...['a', 'b', 'c'].map((id) => [`guest:coder:${id}`, 'answered']),
      ['guest:coder:d', 'cancelled'],
    ])
  })

  it('stays alone with stages here, and names its process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-guard-'))
    try {
      await guardWith({ dataFolder: folder, stages: 'here' })
      const place = { dataFolder: folder, log: pino({ level: 'silent' }) }
      await expect(openGuard({ agent: 'other', stages: 'here', ...place })).rejects.toMatchObject({
        code: 'bus.locked',
      })
      for (const stages of ['auto', 'here'] as const)
        await expect(Weir.open({ agents: [helper], stages, ...place })).rejects.toMatchObject({
          code: 'bus.locked',
          message: expect.stringMatching(`process ${process.pid} guards agents .* has it alone`),
        })
    } finally {
      for (const one of open.splice(0)) await one.close()
      rmSync(folder, { recursive: true })
    }
  })

  it('needs a folder for stages', async () => {
    await expect(openGuard({ agent: 'coder', stages: 'auto' })).rejects.toThrow(
      'stages needs dataFolder',
    )
  })

  it('is not on Kafka too', async () => {
    const options = { agent: 'coder', dataFolder: 'x', kafka: { bootstrapServer: 'h:1' } }
    await expect(openGuard(options)).rejects.toThrow('give dataFolder or kafka, not both')
  })
})
