// The setting `tenantWeights` as a function.

import type { WeightOf } from '../contract/tenant.ts'
import type { Settings } from './settings.ts'

/** A tenant without a weight has 1. */
export function tenantWeightsOf({ tenantWeights }: Pick<Settings, 'tenantWeights'>): WeightOf {
  const weights = new Map(Object.entries(tenantWeights))
  return (tenant) => Number(weights.get(tenant) ?? 1)
}
