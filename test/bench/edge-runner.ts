// The server of edge.ts, in its own process: Weir with an HTTP edge and a scripted model. Plays turns
// in this process too, and reports CPU and memory.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { startEdge } from '../../apps/http/edge/edge.ts'
import { call, type ScriptedRequest, says, scriptedModel } from '../../client/testing/testing.ts'
import { defineAgent, defineTool, Weir } from '../../client/weir.ts'

export type RunnerRequest =
  | { kind: 'play'; turns: number; name: string; pauseMs?: number }
  | { kind: 'cpu' | 'memory' }
  | { kind: 'end'; conversation: string }

/** `cpu`: milliseconds so far. `memory`: resident bytes. `end`: the append time of the turn's end. */
export type RunnerAnswer = { url: string } | { value: number }

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-edge-'))
const words = Array.from({ length: 12 }, (_, n) => `Word ${n} of the answer.`)
const reply = ({ results }: ScriptedRequest) =>
  results.length === 0 ? says('I look.', call('clock', { zone: 'UTC' })) : says(...words)
const log = pino({ level: 'silent' })
const agent = defineAgent({
  name: 'helper',
  system: 'Help.',
  model: scriptedModel(...Array.from({ length: 100_000 }, () => reply)),
  tools: [
    defineTool({
      name: 'clock',
      description: 'Tells the time.',
      run: () => 'noon',
      parameters: { type: 'object', properties: { zone: { type: 'string' } } },
    }),
  ],
})
const weir = await Weir.open({ agents: [agent], dataFolder: folder, log })
const edge = await startEdge({
  weir,
  log,
  host: '127.0.0.1',
  port: 0,
  access: {},
  origins: [],
  requestsPerMinute: 1_000_000,
})

async function answerTo(request: RunnerRequest): Promise<RunnerAnswer> {
  switch (request.kind) {
    case 'play':
      for (let n = 0; n < request.turns; n += 1) {
        const conversation = `${request.name}-${n}`
        if (request.pauseMs !== undefined) await delay(request.pauseMs)
        for await (const event of weir.ask({ agent: 'helper', text: 'What time?', conversation }))
          if (event.type === 'turn-finished') break
      }
      return { value: request.turns }
    case 'cpu': {
      const { user, system } = process.cpuUsage()
      return { value: (user + system) / 1_000 }
    }
    case 'memory':
      globalThis.gc?.()
      await delay(500)
      return { value: process.memoryUsage.rss() }
    case 'end': {
      const [turn] = await weir.conversation(request.conversation).turns({ limit: 1 })
      return { value: turn?.end?.at ?? 0 }
    }
  }
}

process.on('message', (request: RunnerRequest) => {
  void answerTo(request).then((answer) => process.send?.(answer))
})
process.on('disconnect', async () => {
  await edge.close()
  await weir.close()
  rmSync(folder, { recursive: true, force: true })
  process.exit()
})
process.send?.({ url: edge.url } satisfies RunnerAnswer)
