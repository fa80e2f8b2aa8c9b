// A cache of the code that Node compiled, for the sources that tests start. Without it,
// compiling takes half of their start. bin/weir uses the same folder, so no code is compiled twice.

import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'node_modules', '.cache', 'weir')

/** For the environment of a process. */
export const compiled = { NODE_COMPILE_CACHE: folder }
