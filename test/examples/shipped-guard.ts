import { shippedGuard, Weir } from '../../client/weir.ts'

const opa = await shippedGuard('opa', { tools: ['*'], policyFile: 'bundle.tar.gz' })
const weir = await Weir.open({
  agents: 'agents/',
  guards: { guards: [opa], mode: 'enforce' },
})
console.log(await weir.ask({ agent: 'helper', text: 'Show the log of the repository.' }).finished)
await weir.close()
