// The entry of every command. Cleans the environment before it loads the program, because that may
// start the process again.

import { cleanEnvironment } from './clean-environment.ts'

cleanEnvironment()
await import('./program.ts')
