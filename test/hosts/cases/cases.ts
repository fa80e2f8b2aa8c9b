// All cases of `make hosts`: one list.

import { inspector, litellmPackages, mcpPackages, versionOf } from '../installed-hosts.ts'
import {
  claudeRun,
  inspectorRun,
  pythonClientRun,
  pythonQuestionRun,
  pythonServerRun,
} from '../mcp-programs.ts'
import { frameworks, openaiPackage } from '../programs/frameworks.ts'
import { nameOf, type Program } from '../programs/program.ts'
import {
  claudeCode,
  codex,
  copilot,
  geminiCli,
  terminalAgents,
} from '../programs/terminal-agents.ts'
import { runServedClient } from '../served-clients.ts'
import type { Case, Front } from './case.ts'
import { claudeCodeWork, claudeLoopingAgents, claudeStorm } from './claude-code-work.ts'
import { codexLoopingAgents, codexStorm, codexWork } from './codex-work.ts'
import { approvalCase, guardCase, killCase } from './control.ts'
import { generalWork, honestCase, sleepingPolls } from './honest-work.ts'
import { bareCall, incidentCase, incidents, sameSuccess } from './incidents.ts'
import { litellmCases } from './litellm.ts'
import { loopingAgentsCase } from './looping-agents.ts'
import { pluginCases } from './plugin.ts'
import { stormCase, treeStopCase } from './storm.ts'

/** The hosts with all fronts: their requests name the session that their hooks name. */
const hooked: readonly Program[] = [claudeCode, codex]
const fronts: readonly Front[] = ['proxy', 'veto', 'hooks', 'proxy and hooks']

export function allCases(): Case[] {
  const others = [...terminalAgents, ...frameworks].filter((one) => !hooked.includes(one))
  return [
    ...hooked.flatMap(hookedCases),
    incidentCase(claudeCode, 'hooks', bareCall, false),
    ...others.flatMap(otherCases),
    ...[copilot, geminiCli].flatMap(hooksAloneCases),
    ...terminalAgents.flatMap(pluginCases),
    ...litellmCases(),
    ...servedCases(),
    ...gatewayCases(),
  ]
}

function hookedCases(program: Program): Case[] {
  const ownWork = program === claudeCode ? claudeCodeWork : codexWork
  const work = [...generalWork, sleepingPolls, ...ownWork]
  return [
    ...[bareCall, sameSuccess].map((incident) => incidentCase(program, 'none', incident)),
    ...fronts.flatMap((front) =>
      incidents
        // No hook of Codex shows a call that breaks a schema, and none of both shows a thought.
        .filter((incident) => front !== 'hooks' || isSeenByHooks(program, incident.title))
        .map((incident) => incidentCase(program, front, incident)),
    ),
    ...(['none', ...fronts] as const).flatMap((front) =>
      work.map((honest) => honestCase(program, front, honest)),
    ),
    ...fronts
      // No hook of Codex shows a call that breaks a schema.
      .filter((front) => front !== 'hooks' || program === claudeCode)
      .map((front) => loopingAgentsCase(program, front, loopOf(program))),
    ...(['veto', 'hooks'] as const).flatMap((front) => [
      stormCase(program, front, stormOf(program)),
      treeStopCase(program, front, stormOf(program)),
    ]),
    ...(['hooks', 'proxy and hooks'] as const).map((front) => guardCase(program, front)),
    approvalCase(program, 'allow'),
    approvalCase(program, 'deny'),
    ...(['proxy', 'veto', 'hooks', 'proxy and hooks'] as const).flatMap((front) =>
      (['stream', 'call'] as const).map((place) => killCase(program, front, place)),
    ),
  ]
}

const loopOf = (program: Program) =>
  program === claudeCode ? claudeLoopingAgents : codexLoopingAgents

const stormOf = (program: Program) => (program === claudeCode ? claudeStorm : codexStorm)

function isSeenByHooks(program: Program, title: string): boolean {
  if (title.includes('in turns')) return false
  return program === claudeCode || program === copilot || /^I3|^I4/.test(title)
}

function hooksAloneCases(program: Program): Case[] {
  return [
    ...incidents
      .filter(({ title }) => isSeenByHooks(program, title))
      .map((incident) => incidentCase(program, 'hooks', incident)),
    ...generalWork.map((honest) => honestCase(program, 'hooks', honest)),
    guardCase(program, 'hooks'),
    approvalCase(program, 'allow'),
    approvalCase(program, 'deny'),
    ...(['stream', 'call'] as const).map((place) => killCase(program, 'hooks', place)),
  ]
}

function otherCases(program: Program): Case[] {
  const work = program.unjudged === undefined ? generalWork : []
  return [
    ...incidents.map((incident) => incidentCase(program, 'proxy', incident)),
    incidentCase(program, 'veto', bareCall),
    ...(['none', 'proxy', 'veto'] as const).flatMap((front) =>
      work.map((honest) => honestCase(program, front, honest)),
    ),
  ]
}

function servedCases(): Case[] {
  const served = { front: 'weir serve', title: 'a client of the HTTP server' }
  const of = { openai: openaiPackage, litellm: litellmPackages }
  return [
    {
      ...served,
      program: `openai ${versionOf(of.openai)} (Python)`,
      run: () => runServedClient(of.openai, 'served_openai'),
    },
    {
      ...served,
      program: `litellm ${versionOf(of.litellm)} (Python)`,
      run: () => runServedClient(of.litellm, 'served_litellm'),
    },
  ]
}

function gatewayCases(): Case[] {
  const python = `mcp ${versionOf(mcpPackages)} (Python)`
  const overBoth = [false, true].flatMap((isHttp): Case[] => {
    const front = isHttp ? 'weir mcp over HTTP' : 'weir mcp'
    return [
      { program: nameOf(claudeCode), front, title: bareCall.title, run: () => claudeRun(isHttp) },
      {
        program: `MCP inspector ${versionOf(inspector)} --cli`,
        front,
        title: 'a client of the gateway',
        run: () => inspectorRun(isHttp),
      },
      {
        program: python,
        front,
        title: 'a client of the gateway',
        run: () => pythonClientRun(isHttp),
      },
    ]
  })
  return [
    ...overBoth,
    {
      program: python,
      front: 'weir mcp',
      title: 'the server behind the gateway',
      run: pythonServerRun,
    },
    {
      program: python,
      front: 'an agent',
      title: 'a question of the server to a person',
      run: pythonQuestionRun,
    },
  ]
}
