// The styles that pages share, as paths in the order of a page.

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const kit = join(import.meta.dirname, 'kit')
const plotStyle = join(kit, 'uPlot.min.css')

/** Colours, and the elements of every page. */
export const baseStyles = ['colours.css', 'page.css'].map((name) => join(kit, name))

/** Plots, and tables that scroll to the side. */
export const plotStyles = [
  existsSync(plotStyle) ? plotStyle : styleOfPlots(),
  join(kit, 'plots.css'),
]

/** The package has a copy. */
export function styleOfPlots(): string {
  return join(dirname(createRequire(import.meta.url).resolve('uplot')), 'uPlot.min.css')
}
