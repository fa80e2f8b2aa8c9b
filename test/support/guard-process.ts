// A process that guards an agent on the folder in its first argument, until it is killed. It prints
// a line once it is open.

import { openGuard } from '../../client/guard/guard.ts'

await openGuard({ agent: 'coder', dataFolder: process.argv[2] ?? '' })
console.log('open')
setInterval(() => {}, 60_000)
