// Parity of the fronts: the same transcript gives the same interventions through `weir judge`, the proxy
// over HTTP, hooks, and an adapter on its SDK. Each trace goes one of these ways (comparison.ts).

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { corpora } from '../support/traces.ts'
import { adapterDrivers } from './adapter-drivers.ts'
import { differingIn, turn } from './comparison.ts'
import { type Driver, openParityWorld, type ParityWorld } from './driver.ts'
import { hooksDriver } from './hooks-driver.ts'
import { type ProxyForParity, proxyFormats, proxyForParity } from './proxy-driver.ts'

let world: ParityWorld
let proxy: ProxyForParity
beforeAll(async () => {
  world = await openParityWorld()
  proxy = await proxyForParity()
})
afterAll(async () => {
  await proxy.close()
  await world.close()
})

describe.each(corpora.map((file, at) => ({ ...file, at })))('the traces of $name', (file) => {
  const ways: [name: string, way: number, driverOf: () => Driver][] = [
    ['hooks alone', 0, () => hooksDriver],
    ...turn(proxyFormats, file.at).map((format): (typeof ways)[number] => [
      `the proxy, ${format}`,
      1,
      () => proxy.driver(format),
    ]),
    ...turn(adapterDrivers, file.at).map((driver): (typeof ways)[number] => [
      driver.name,
      2,
      () => driver,
    ]),
  ]

  it.each(ways)('have the interventions of weir judge: %s', async (_, way, driverOf) => {
    expect(await differingIn(world, driverOf(), file, { from: way, of: 3 })).toEqual([])
  })
})
