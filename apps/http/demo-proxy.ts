// The proxy of `weir demo`: `weir proxy` in this process, with its log in memory.

import { openFronts } from '../../client/guard/log/fronts.ts'
import { closedOnFailure } from '../../client/place/closed-on-failure.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import type { StartProxy } from '../demo/demo.ts'
import { startFrontServer } from './front-server.ts'

export const startDemoProxy: StartProxy = async (upstream, settings) => {
  const log = createLog({ level: settings.logLevel, secrets: [] })
  const fronts = await openFronts({ kind: 'memory' }, { log })
  const place = { host: '127.0.0.1', port: 0 }
  const server = await closedOnFailure(fronts, () =>
    startFrontServer({ fronts, ...place, upstream, agent: 'demo', log }),
  )
  return {
    url: server.url,
    async close() {
      await server.close()
      await fronts.close()
    },
  }
}
