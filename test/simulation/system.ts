// The system under test: the real stages with their real performers, on fakes of the model, the
// tools and the bus. A canary is another System: the same with one part broken (broken/).

import type { Front } from '../../client/guard/front.ts'
import type { Provider } from '../../services/llm-gateway/performer/providers/providers.ts'
import { runEntry, type StageEntries, stageEntries } from '../../services/stages.ts'
import type { Agents } from '../../shared/agents/agents.ts'
import type { Bus, Subscription } from '../../shared/contract/bus.ts'
import { stageNames } from '../../shared/contract/topology.ts'
import type { RunOptions } from '../../shared/runtime/run-stage.ts'
import type { StartTool } from '../../shared/tools/tool.ts'

/** `place`: the location of the process, which its successors share. */
export type Parts = { place: string; agents: Agents; connect: () => Provider; run: StartTool }

export type Entries = StageEntries

export type System = {
  name: string
  entries(parts: Parts): Entries
  /** The bus of one process. */
  bus(bus: Bus): Bus
  /** A broken front. Default: the real one. */
  front?(front: Front): Front
}

export function realEntries({ agents, connect, run }: Parts): Entries {
  return stageEntries({ agents, connect, run })
}

export const realSystem: System = {
  name: 'real',
  entries: realEntries,
  bus: (bus) => bus,
}

/** Runs all stages in one process. */
export function runEntries(entries: Entries, options: RunOptions): Promise<Subscription[]> {
  return Promise.all(stageNames.map((name) => runEntry(entries, name, options)))
}
