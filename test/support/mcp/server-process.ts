// The test server (server.ts) as a process. Its environment is a subject of tests, so it names the cache of
// compiled code itself.

import { enableCompileCache } from 'node:module'
import { compiled } from '../compiled.ts'

enableCompileCache(compiled.NODE_COMPILE_CACHE)

const { serveOnPipe } = await import('./server.ts')
await serveOnPipe()
