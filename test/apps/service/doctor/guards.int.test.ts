// The check of guards on a data folder: the owner of the folder knows who answers.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { guardsCheck } from '../../../../apps/service/doctor/guards.ts'
import { type Guard, Weir } from '../../../../client/weir.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { testAgent } from '../../../support/pipeline.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-doctor-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const guard: Guard = {
  name: 'no-rome',
  version: '1',
  tools: ['*'],
  deadlineMs: 1_000,
  onTimeout: 'deny',
  judge: () => ({ state: null, verdicts: [] }),
}

function open(guards: Guard[]): Promise<Weir> {
  const agent = testAgent('http://127.0.0.1:1', { tools: () => [] }, '/dev/null')
  return Weir.open({
    agents: new Map([[agent.name, agent]]),
    dataFolder: join(folder, 'data'),
    guards: { guards, mode: 'enforce' },
    log: pino({ level: 'silent' }),
  })
}

const check = () => guardsCheck(readSettings({ dataFolder: join(folder, 'data') }, {}))

describe('the check of guards next to a running process', () => {
  it('names the process that runs each guard, in the owner or next to it', async () => {
    await using _owner = await open([guard])
    expect(await check()).toMatchObject({
      state: 'ok',
      finding: `no-rome enforce; no-rome runs in process ${process.pid}`,
    })
    await using _beside = await open([{ ...guard, name: 'no-oslo' }])
    expect((await check()).finding).toContain(`no-oslo runs in process ${process.pid}`)
  })

  it('reports a guard in force that no process runs', async () => {
    await (await open([guard])).close()
    expect(await check()).toMatchObject({ state: 'warning' })
    await using _owner = await open([])
    expect(await check()).toMatchObject({
      state: 'warning',
      finding: 'calls wait for no-rome (enforce), and no process runs it now',
    })
  })
})
