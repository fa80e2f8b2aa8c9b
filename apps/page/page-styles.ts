// The styles that pages share, as paths in the order of a page.

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const kit = join(import.meta.dirname, 'kit')
const uplot = dirname(createRequire(import.meta.url).resolve('uplot'))

/** Colours, and the elements of every page. */
export const baseStyles = ['colours.css', 'page.css'].map((name) => join(kit, name))

/** Plots, and tables that scroll to the side. */
export const plotStyles = [join(uplot, 'uPlot.min.css'), join(kit, 'plots.css')]
