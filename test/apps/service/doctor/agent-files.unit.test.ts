// The comparison of the agent files of a fleet's processes.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { agentFilesCheck, fleetFilesCheck } from '../../../../apps/service/doctor/agent-files.ts'
import { agentFilesHash } from '../../../../shared/agents/file/agent-files-hash.ts'
import type { FleetMember } from '../../../../shared/bus/fleet/fleet-members.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'

const member = (process: string, agents: string | undefined, stage = 'executor'): FleetMember => ({
  group: `w.${stage}`,
  host: '10.0.0.7',
  process,
  weir: '0.2.0',
  format: 2,
  agents,
})

describe('the agent files of the processes of a fleet', () => {
  it('are one set if all processes announce the same hash, also in two stages', () => {
    const members = [member('a/1', 'f1'), member('a/1', 'f1', 'llm-gateway'), member('b/1', 'f1')]
    expect(agentFilesCheck(members)).toMatchObject({
      state: 'ok',
      finding: 'all processes run the files f1',
    })
  })

  it('are a warning that names each process if one of them has other files', () => {
    const members = [member('c/1', 'f2'), member('a/1', 'f1'), member('b/1', 'f1')]
    expect(agentFilesCheck(members)).toMatchObject({
      state: 'warning',
      finding:
        'processes run different agent files: f1 in a/1 at 10.0.0.7, b/1 at 10.0.0.7; f2 in c/1 at 10.0.0.7',
      remedy: expect.stringMatching(/same files \(--agents\).*--topic-prefix/),
    })
  })

  it('are not compared while no process announces any', () => {
    expect(agentFilesCheck([member('a/1', undefined)])).toMatchObject({ state: 'skipped' })
  })

  it('are not compared during a rebalance, and another refusal is a fault', async () => {
    const refused = (retryable: boolean) =>
      fleetFilesCheck(() =>
        Promise.reject(new WeirError('bus.refused', 'the groups do not answer', { retryable })),
      )
    expect(await refused(true)).toMatchObject({
      state: 'skipped',
      finding: expect.stringMatching('rebalance'),
    })
    expect(await refused(false)).toMatchObject({ state: 'wrong' })
    expect(await fleetFilesCheck(async () => [member('a/1', 'f1')])).toMatchObject({ state: 'ok' })
  })
})

describe('the hash of agent files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-agent-files-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  function folderOf(name: string, files: Record<string, string>): string {
    const path = join(folder, name)
    mkdirSync(path)
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text)
    return path
  }

  it('is that of the texts: a file with another name or in another folder is the same file', () => {
    const one = agentFilesHash(folderOf('one', { 'a.yaml': 'A', 'b.yaml': 'B' }))
    expect(one).toMatch(/^[0-9a-f]{12}$/)
    expect(agentFilesHash(folderOf('two', { 'x.yaml': 'B', 'y.yaml': 'A' }))).toBe(one)
    expect(agentFilesHash(folderOf('three', { 'a.yaml': 'A', 'b.yaml': 'C' }))).not.toBe(one)
  })

  it('is absent for a path without an agent file', () => {
    expect(agentFilesHash(join(folder, 'none'))).toBeUndefined()
  })
})
