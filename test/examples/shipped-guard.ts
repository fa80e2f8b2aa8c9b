import { opaGuard } from '../../client/guards/guards.ts'
import { Weir } from '../../client/weir.ts'

const opa = opaGuard({ tools: ['*'], policyFile: 'bundle.tar.gz' })
const weir = await Weir.open({
  agents: 'agents/',
  guards: { guards: [opa], mode: 'enforce' },
})
console.log(await weir.ask({ agent: 'helper', text: 'Show the log of the repository.' }).finished)
await weir.close()
