// A policy that requires approval, in a program: real stages on a real file, a scripted model after
// real HTTP, and real processes as tools.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { pino } from 'pino'
import {
  type AnthropicServer,
  startAnthropicServer,
} from '../../../../apps/demo/anthropic-server.ts'
import { opaGuard } from '../../../../client/guards/guards.ts'
import { type ApprovalSettings, Weir } from '../../../../client/weir.ts'
import { recordedTool, testAgent } from '../../../support/pipeline.ts'
import { call, resultsOf, says, script, text } from '../../../support/script.ts'

const agent = 'test-agent'
let folder: string
let server: AnthropicServer
let weir: Weir

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-opa-approval-'))
  server = await startAnthropicServer(
    script(
      says(call('kubectl', { get: 'pods' }), call('git', { args: ['status'] })),
      says(text('Done.')),
    ),
  )
})

afterEach(async () => {
  await weir.close()
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

async function open(approvals?: ApprovalSettings): Promise<void> {
  const tools = (file: string) =>
    ['kubectl', 'git'].map((name) => recordedTool({ name, schema: { type: 'object' } }, file))
  const opa = opaGuard({
    tools: ['*'],
    policyFile: fileURLToPath(new URL('policy/bundle.tar.gz', import.meta.url)),
    runtimeContext: { role: 'sre-oncall' },
    deadlineMs: 30_000,
  })
  weir = await Weir.open({
    agents: new Map([
      [agent, testAgent(server.url, { tools, settings: {} }, join(folder, 'starts'))],
    ]),
    dataFolder: join(folder, 'data'),
    log: pino({ level: 'silent' }),
    guards: { guards: [opa], mode: 'enforce' },
    ...(approvals && { approvals }),
  })
}

async function startedTools(): Promise<string[]> {
  const lines = await readFile(join(folder, 'starts'), 'utf8').catch(() => '')
  return lines
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line).arguments as string]))
    .sort()
}

it('a call that the policy sends to a person runs after the approval, and no other call waits', async () => {
  await open({ rules: [{ name: 'on request', tools: ['*'], when: 'requested', others: 'run' }] })
  const turn = weir.ask({ agent, text: 'go', conversation: 'c' })
  const pending: string[] = []
  for await (const event of turn)
    if (event.type === 'approval-pending')
      for (const { id, name, rule } of event.calls) {
        pending.push(`${name}: ${rule}`)
        await weir.allow(id, { by: 'ann' })
      }
  expect(pending).toEqual([
    'kubectl: guard opa: the policy requires approval of this call: kubectl by sre-oncall',
  ])
  expect(await startedTools()).toEqual(['{"args":["status"]}', '{"get":"pods"}'])
})

it('a call that the policy sends to a person is vetoed where no rule lets a person decide', async () => {
  await open()
  const turn = weir.ask({ agent, text: 'go', conversation: 'c' })
  expect((await turn.finished).outcome).toBe('answered')
  expect(resultsOf(server.requests[1]).join('\n')).toContain(
    'the guard "opa" says: it needs a person\'s approval: the policy requires approval',
  )
  expect(await startedTools()).toEqual(['{"args":["status"]}'])
})
