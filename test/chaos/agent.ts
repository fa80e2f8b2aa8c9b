// The agent file under test: nine tools of all three kinds. Some may be repeated, and two must not run
// twice for equal values. Its
// timeouts are short. A call whose executor was killed expires within seconds.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { contentMark } from './content-mark.ts'
import { processHeader } from './tool-server.ts'

const act = fileURLToPath(new URL('tools/act.sh', import.meta.url))
const note = fileURLToPath(new URL('tools/note.mjs', import.meta.url))

export type AgentWorld = {
  folder: string
  providerUrl: string
  toolsUrl: string
  startsFile: string
  /** Parts that begin with record format 2: an older Weir refuses them. */
  isNewest: boolean
}

export const modelLimits = { requestsAtOnce: 8, requestsPerMinute: 150 }

/** Writes agents/worker.yaml into the folder and returns its path. */
export function writeAgent({
  folder,
  providerUrl,
  toolsUrl,
  startsFile,
  isNewest,
}: AgentWorld): string {
  const command = (name: string) => ({
    command: ['sh', act, name, startsFile],
    environment: ['CHAOS_PROCESS'],
  })
  const module = { module: note, environment: ['CHAOS_PROCESS', 'CHAOS_STARTS'] }
  const http = (name: string) => ({
    http: { url: `${toolsUrl}/${name}`, headers: { [processHeader]: variable('CHAOS_PROCESS') } },
  })
  const agent = {
    name: 'worker',
    system: `You are a ${contentMark} under test.`,
    model: {
      provider: 'anthropic',
      name: 'chaos',
      baseUrl: providerUrl,
      maxOutputTokens: 1000,
      ...(isNewest && { limits: modelLimits }),
    },
    fallback: `This is the fallback of the ${contentMark}.`,
    caps: { rounds: 15, calls: 40, wallMs: 300_000 },
    stallMs: 15_000,
    startWithinMs: 5_000,
    graceMs: 1_000,
    tools: [
      tool('pay', command('pay'), false),
      tool('note', module, false),
      tool('charge', http('charge'), false),
      tool('look', command('look'), true),
      tool('index', module, true),
      tool('find', http('find'), true),
      tool('flaky', command('flaky'), false),
      ...(isNewest
        ? [
            { ...tool('order', http('order'), false), once: { by: ['n'] } },
            {
              ...tool('transfer', command('transfer'), false),
              once: { by: ['n'], for: '24h', within: 'tenant' },
            },
          ]
        : []),
    ],
  }
  const file = join(folder, 'worker.yaml')
  writeFileSync(file, JSON.stringify(agent, undefined, 2)) // JSON is YAML
  return file
}

function tool(name: string, kind: object, idempotent: boolean): object {
  const schema = {
    type: 'object',
    properties: {
      n: { type: 'string' },
      sleepMs: { type: 'integer' },
      fail: { type: 'boolean' },
      risk: { type: 'string' },
    },
    required: ['n'],
    additionalProperties: false,
  }
  return { name, description: `does ${name}`, idempotent, timeoutMs: 8_000, schema, ...kind }
}

/** The shape of a tool in an agent file. */
function variable(name: string): string {
  return `\${${name}}`
}
