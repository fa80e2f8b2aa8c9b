// Preloaded by `--import`: the compile cache of tests for a server that gets no environment.

import { enableCompileCache } from 'node:module'
import { compiled } from '../compiled.ts'

enableCompileCache(compiled.NODE_COMPILE_CACHE)
