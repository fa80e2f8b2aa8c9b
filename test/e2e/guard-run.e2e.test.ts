// `weir guard` on a real broker, each command in its own process. A guard is added, switched,
// listed, killed next to another instance of it, and removed. One turn runs all the time, and nothing
// is restarted but the guard.

import { randomBytes } from 'node:crypto'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { ListedGuard } from '../../apps/service/guards/list.ts'
import { until } from '../support/inbox.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { call, says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder, type RunningWeir } from '../support/weir-command.ts'

let commands: CommandFolder
let place: string[]
let up: RunningWeir
let isOver = false

beforeAll(async () => {
  const brokers = (await sharedBroker()).bootstrapServers
  let round = 0
  // Each round takes a while, brings something new, and removes something. The guard judges the
  // removal.
  commands = await openCommandFolder(() => {
    round += 1
    const goesOn = says(
      call('act', { sleepMs: 1_000, answer: `step ${round}` }),
      call('exec', { command: `rm file-${round}` }),
    )
    return isOver ? says(text('Done.')) : goesOn
  })
  // As many rounds as the commands take, however long that is.
  await appendFile(join(commands.folder, 'agent.yaml'), 'caps: { rounds: 1000, calls: 2000 }\n')
  place = [
    '--bus',
    'kafka',
    '--bootstrap-server',
    brokers,
    '--topic-prefix',
    `test-${randomBytes(6).toString('hex')}.`,
  ]
  await writeFile(
    join(commands.folder, 'guard.mjs'),
    `export default {
      name: 'no-removal', version: '1', tools: ['exec'], deadlineMs: 25000, onTimeout: 'deny',
      judge: (state, { calls }) => ({
        state,
        verdicts: calls.map(({ ordinal }) => ({ ordinal, verdict: 'deny', code: 'removes', text: 'Nothing may be removed.' })),
      }),
    }`,
  )
  const created = await commands.run(['topics', 'create', ...place.slice(2), '--partitions', '2'])
  expect(created).toMatchObject({ code: 0, errors: '' })
  up = commands.start(['up', ...place, '--agents', 'agent.yaml'])
  await up.shows('the stages are started')
}, brokerStartMs + 60_000)

afterAll(async () => {
  up?.child.kill('SIGTERM')
  await up?.ended
  await commands?.close()
})

const runGuard = async (): Promise<RunningWeir> => {
  const running = commands.start([
    'guard',
    'run',
    'guard.mjs',
    ...place,
    '--log-level',
    'info',
    '--health-port',
    '0',
  ])
  await running.shows('guard started')
  return running
}
const change = async (...args: string[]) =>
  expect(await commands.run(['guard', ...args, ...place])).toMatchObject({ code: 0, errors: '' })
const listed = async (): Promise<ListedGuard | undefined> => {
  const { out } = await commands.run(['guard', 'list', '--json', ...place])
  return out === '' ? undefined : (JSON.parse(out) as ListedGuard)
}

describe('weir guard run over Kafka', () => {
  it('adds a guard to a running turn, switches, lists and removes it while instances come and go', async () => {
    const turn = commands.start(['ask', '--agent', 'agent.yaml', ...place, 'Tidy up.'])
    await turn.shows('exec ok')
    const first = await runGuard()
    await until(async () => ((await listed())?.wouldHaveDenied ?? 0) > 0)
    expect(await listed()).toMatchObject({
      name: 'no-removal',
      version: '1',
      mode: 'shadow',
      denied: 0,
      late: 0,
    })

    await change('mode', 'no-removal', 'enforce')
    await turn.shows('exec denied before execution: vetoed by guard no-removal: removes')
    expect(await listed()).toMatchObject({
      mode: 'enforce',
      denied: expect.any(Number),
      letThrough: 0,
    })

    const second = await runGuard()
    first.child.kill('SIGKILL')
    await first.ended
    await turn.shows('exec denied before execution: vetoed by guard no-removal: removes')
    await turn.shows('exec denied before execution: vetoed by guard no-removal: removes')

    await change('remove', 'no-removal')
    await turn.shows('exec ok')
    expect(await listed()).toBeUndefined()
    isOver = true
    expect(await turn.ended).toMatchObject({ code: 0, out: 'Done.\n' })
    second.child.kill('SIGTERM')
    expect((await second.ended).code).toBe(0)
    expect(up.child.exitCode).toBeNull()
  }, 180_000)
})
