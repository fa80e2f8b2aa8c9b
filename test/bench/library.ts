// Weir as a library next to the AI SDK and the OpenAI Agents SDK. Model server, conversation and tool
// are the same, and the tool is a function in the process. Each program is written as the documents
// of its library show it, and reads every event. The plain loop is the OpenAI SDK in a loop by hand. Each measurement is a process, with
// its own CPU time. Runs alternate and medians are compared, because the load of a shared machine
// changes. Run alone: node test/bench/library.ts.
//
// The first text is stamped by the server when it writes it, with the clock that all processes of
// the machine share. The server pauses before each piece of the answer there, as a model does.
//
// Not measured: equal work. Weir writes each step to a file before it acts on it, and the others
// keep nothing. A real model's pace at 64 at once: all pieces of an answer arrive at once, so no
// cost hides in waiting. TLS. Long histories, large arguments and results. Other providers. Tracing,
// which is off in the Agents SDK. Memory beyond its peak. Time to load the packages. A
// process on several CPUs: each contender is one thread of JavaScript.

import { join } from 'node:path'
import { measure, median, withServer } from './agent-loop.ts'
import type { Measured, RunnerOptions } from './agent-loop-runner.ts'
import type { Row } from './row.ts'

const runs = 3
const provider = 'openai-chat'
const contenders = ['floor', 'ai-sdk', 'agents-sdk', 'weir-library'] as const
const names = {
  floor: 'plain loop',
  'ai-sdk': 'AI SDK',
  'agents-sdk': 'OpenAI Agents SDK',
  'weir-library': 'Weir',
}

type Contender = (typeof contenders)[number]
type Load = Pick<RunnerOptions, 'conversations' | 'atOnce' | 'warmUp'> & { pauseMs?: number }

export async function benchLibrary(): Promise<Row[]> {
  const many = await alternating({ conversations: 600, atOnce: 64, warmUp: 400 })
  const one = await alternating({ conversations: 300, atOnce: 1, warmUp: 300 })
  const paced = await alternating({ conversations: 40, atOnce: 1, warmUp: 40, pauseMs: 1 })
  return [
    ...rows(many, {
      name: '64 at once, conversations per CPU second',
      unit: '/CPU s',
      goal: '>= 1.3 x of each SDK',
      pick: (all) => all.perCpuSecond,
    }),
    ...rows(many, { name: '64 at once, peak memory', unit: 'MiB', pick: (all) => all.peakRssMiB }),
    ...rows(one, {
      name: 'one at a time, p50 of a conversation',
      unit: 'ms',
      goal: '<= plain loop + 5',
      pick: (all) => all.p50Ms,
    }),
    ...rows(paced, {
      name: 'from the write of the first text to its event, p50',
      unit: 'ms',
      goal: '<= 2',
      pick: (all) => all.firstTextMs,
    }),
  ]
}

type Column = { name: string; unit: string; goal?: string; pick: (measured: Measured) => number }

/** Weir's row has the ratio to each SDK. */
function rows(measured: Record<Contender, Measured[]>, { name, unit, goal, pick }: Column): Row[] {
  const value = (contender: Contender) => median(measured[contender].map(pick))
  const others = contenders.slice(0, -1).map((contender) => ({
    name: `${names[contender]}, ${name}`,
    value: value(contender),
    unit,
    baseline: 'plain loop',
    ratio: value(contender) / value('floor'),
  }))
  const own = (['floor', 'ai-sdk', 'agents-sdk'] as const).map((other) => ({
    name: `Weir, ${name}${goal === undefined ? '' : ` (goal ${goal})`}`,
    value: value('weir-library'),
    unit,
    baseline: names[other],
    ratio: value('weir-library') / value(other),
  }))
  return [...others, ...own]
}

async function alternating({ pauseMs = 0, ...load }: Load): Promise<Record<Contender, Measured[]>> {
  const measured: Record<Contender, Measured[]> = {
    floor: [],
    'ai-sdk': [],
    'agents-sdk': [],
    'weir-library': [],
  }
  for (let run = 0; run < runs; run += 1)
    for (const kind of contenders)
      await withServer(
        { provider, toolMs: 0, keepsStarts: false, pauseMs },
        async ({ url, folder }) => {
          const own = { kind, inProcess: true, dataFolder: join(folder, 'weir') }
          measured[kind].push(await measure({ ...load, provider, url, ...own }))
        },
      )
  return measured
}

if (import.meta.main) console.table(await benchLibrary())
