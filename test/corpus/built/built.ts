// All traces that are built from a few words.

import type { Scenario } from '../../../apps/replay/judge/scenario.ts'
import { freshLoops, freshWork } from './fresh-traces.ts'
import { honestWork } from './honest-work.ts'
import { hostLoops } from './host-loops.ts'
import { hostWork } from './host-work.ts'
import { renamedLoops } from './renamed-loops.ts'
import { renamedWork } from './renamed-work.ts'
import { rewordedLoops } from './reworded-loops.ts'
import { rewordedWork } from './reworded-work.ts'
import { agentsWork } from './sessions/agents-work.ts'
import { sessionLoops } from './sessions/loops.ts'
import { persistentLoops } from './sessions/persistent-loops.ts'
import { persistentWork } from './sessions/persistent-work.ts'
import { servicesWork } from './sessions/services-work.ts'
import { treeLoops } from './tree-loops.ts'
import { treeWork } from './tree-work.ts'
import { unseenLoops } from './unseen-loops.ts'
import { unseenWork } from './unseen-work.ts'
import { slowLoops, variedLoops } from './varied-loops.ts'

export const built: Scenario[] = [
  ...variedLoops,
  ...slowLoops,
  ...hostLoops,
  ...renamedLoops,
  ...rewordedLoops,
  ...treeLoops,
  ...unseenLoops,
  ...freshLoops,
  ...sessionLoops,
  ...persistentLoops,
  ...honestWork,
  ...hostWork,
  ...renamedWork,
  ...rewordedWork,
  ...treeWork,
  ...unseenWork,
  ...freshWork,
  ...agentsWork,
  ...servicesWork,
  ...persistentWork,
]
