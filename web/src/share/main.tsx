// In charge of: mounting the share page, or the embedded player, in the page that the Worker served.
import { render } from 'preact'
import { SharedPage } from './page.tsx'
import { isEmbedded } from './shareMedia.ts'

const root = document.getElementById('app')
document.documentElement.classList.toggle('embedded', isEmbedded)
if (root) render(<SharedPage />, root)
