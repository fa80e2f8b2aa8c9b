// The doctor's lines about sandboxes: the machine, and the tools of each agent.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { backendCheck, sandboxChecks } from '../../../../apps/service/doctor/sandboxes.ts'
import type { Agents, ToolRun } from '../../../../shared/agents/agents.ts'
import { defaultSettings } from '../../../../shared/agents/policy/policy.ts'
import type { SandboxSetting } from '../../../../shared/agents/sandbox.ts'
import type { Backend } from '../../../../shared/lib/sandbox/backend.ts'
import { protectAgentFile, protectOwnPath } from '../../../../shared/lib/sandbox/own-paths.ts'
import { declarationWith } from '../../../support/messages.ts'
import { inSandboxes } from '../../../support/sandboxes.ts'

const bubblewrap: Backend = {
  program: '/usr/bin/bwrap',
  version: '0.8.0',
  hasProc: true,
  closesUserNamespaces: true,
  prlimit: '/usr/bin/prlimit',
}

function agentsOf(...runs: ToolRun[]): Agents {
  const tools = runs.map((run, index) => ({
    declaration: declarationWith({ name: `tool${index}`, timeoutMs: 1 }),
    run,
  }))
  const model = { provider: 'p', name: 'm', apiKey: '', maxOutputTokens: 1 }
  return new Map([['a', { name: 'a', system: '', model, settings: defaultSettings, tools }]])
}

const folder = mkdtempSync(join(tmpdir(), 'weir-doctor-'))
/** No tool of this file may write here. */
const place = mkdtempSync(join(tmpdir(), 'weir-doctor-'))
afterAll(() => {
  for (const one of [folder, place]) rmSync(one, { recursive: true })
})

function command(sandbox?: SandboxSetting, cwd = folder): ToolRun {
  return { kind: 'command', argv: ['true'], cwd, ...(sandbox && { sandbox }) }
}

const http: ToolRun = { kind: 'http', url: 'http://h', headers: {} }

describe('a machine that can make sandboxes', () => {
  it('is well, and names the bounds that hold', () => {
    expect(backendCheck(bubblewrap, { isRoot: false })).toEqual({
      name: 'sandbox',
      state: 'ok',
      finding:
        'bubblewrap 0.8.0 works: it bounds the processes of a call, their CPU time and, by watching them, their memory',
    })
    expect(backendCheck(bubblewrap, { isRoot: true, hasCap: true }).state).toBe('ok')
    expect(backendCheck(bubblewrap, { isRoot: true, hasCap: false })).toMatchObject({
      state: 'warning',
      remedy: 'run Weir as another user',
    })
  })

  it.each<[Partial<Backend>, string]>([
    [{ hasProc: false }, 'tools see no /proc'],
    [{ closesUserNamespaces: false }, 'tools can make user namespaces'],
  ])('has a warning without a feature: %j', (lacking, finding) => {
    const check = backendCheck({ ...bubblewrap, ...lacking }, { isRoot: false })
    expect(check).toMatchObject({ state: 'warning', finding: expect.stringContaining(finding) })
  })
})

describe('a machine that can make none', () => {
  const missing = { missing: 'bubblewrap is not installed; run: apk add bubblewrap' }
  const remedy = `${missing.missing}, or write sandbox: off`

  it('has a warning while no tool needs one, and wrong as soon as one does', () => {
    expect(sandboxChecks(agentsOf(command('off'), http), missing)).toEqual([
      expect.objectContaining({ state: 'warning', remedy }),
    ])
    expect(sandboxChecks(agentsOf(command('default')), missing)).toEqual([
      expect.objectContaining({ state: 'wrong', remedy }),
    ])
  })
})

describe('a tool without the setting', () => {
  it('is named with the two remedies, and tools over a URL are not', () => {
    const [, ...lines] = sandboxChecks(agentsOf(command(), http, command('off')), {
      backend: bubblewrap,
    })
    expect(lines).toEqual([
      {
        name: 'sandbox',
        state: 'warning',
        finding: 'a: tool0 can do all that this user can',
        remedy: 'write sandbox: default, or sandbox: off, in the agent file',
      },
    ])
  })
})

inSandboxes('a tool with a sandbox', () => {
  it('is well, or wrong with the path that makes its sandbox impossible', () => {
    const [, well, wrong] = sandboxChecks(
      agentsOf(command('default'), command({ read: ['/no/such/place'] })),
    )
    expect(well).toMatchObject({ state: 'ok', finding: 'a/tool0: its sandbox can be made' })
    expect(wrong).toMatchObject({
      state: 'wrong',
      finding: expect.stringContaining('/no/such/place (ENOENT)'),
    })
  })

  it('has a warning if it works next to the agent file, unless it lists that folder for reading', () => {
    protectAgentFile(join(folder, 'agent.yaml'))
    const [, writes, reads] = sandboxChecks(
      agentsOf(command('default'), command({ read: [folder] })),
    )
    expect(writes).toMatchObject({
      state: 'warning',
      finding: 'a/tool0: its working folder is read-only, because it holds the agent file',
      remedy: expect.stringContaining('cwd: files'),
    })
    expect(reads).toMatchObject({ state: 'ok' })
  })
})

inSandboxes('a tool with credentials in its folders', () => {
  it('has a warning if they are deeper than a sandbox hides them', () => {
    const project = join(place, 'project')
    for (const path of ['app/deep', 'node_modules/p', 'hidden', 'shown', '../elsewhere'])
      mkdirSync(join(project, path), { recursive: true })
    for (const path of ['', 'app/deep', 'node_modules/p', 'hidden', 'shown', '../elsewhere'])
      writeFileSync(join(project, path, '.env'), 'KEY=1')
    symlinkSync(join(place, 'elsewhere'), join(project, 'link'))
    protectOwnPath(join(project, 'hidden'))
    // A listed path lies in no folder that a tool may write.
    protectAgentFile(join(project, 'agent.yaml'))
    const shown = join(project, 'shown', '.env')
    const checks = sandboxChecks(agentsOf(command({ read: [shown] }, project)))
    expect(checks.filter(({ finding }) => finding.includes('.env'))).toMatchObject([
      { state: 'warning', finding: `a/tool0: it can read ${join(project, 'app/deep/.env')}` },
    ])
  })
})
