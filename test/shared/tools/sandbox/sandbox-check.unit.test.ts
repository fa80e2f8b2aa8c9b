// The check of sandboxes when an executor starts.

import { describe, expect, it } from '@jest/globals'
import type { Agents } from '../../../../shared/agents/agents.ts'
import { defaultSettings } from '../../../../shared/agents/policy/policy.ts'
import type { SandboxSetting } from '../../../../shared/agents/sandbox.ts'
import { prepareSandboxes } from '../../../../shared/tools/sandbox/sandbox-check.ts'
import { declarationWith } from '../../../support/messages.ts'

function agentsOf(...sandboxes: (SandboxSetting | undefined)[]): Agents {
  const tools = sandboxes.map((sandbox, index) => ({
    declaration: declarationWith({ name: `tool${index}`, timeoutMs: 1 }),
    run: { kind: 'command' as const, argv: ['true'] as [string], ...(sandbox && { sandbox }) },
  }))
  const model = { provider: 'p', name: 'm', apiKey: '', maxOutputTokens: 1 }
  return new Map([['a', { name: 'a', system: '', model, settings: defaultSettings, tools }]])
}

function logged(agents: Agents): unknown[][] {
  const lines: unknown[][] = []
  const log = { error: (...line: unknown[]) => void lines.push(line) }
  prepareSandboxes(agents, log, () => ({ missing: 'nothing is installed' }))
  return lines
}

describe('an executor on a machine without bubblewrap', () => {
  it('names the tools that will not start', () => {
    expect(logged(agentsOf('default', 'off', undefined, { network: 'all' }))).toEqual([
      [
        { tools: ['tool0', 'tool3'] },
        'no sandbox can be made here: nothing is installed; calls of these tools do not start',
      ],
    ])
  })

  it('logs nothing if no tool needs a sandbox, and looks for no bubblewrap', () => {
    expect(logged(agentsOf('off', undefined))).toEqual([])
    const backend = () => {
      throw new Error('it was looked for')
    }
    prepareSandboxes(agentsOf(undefined), { error: () => {} }, backend)
  })
})
