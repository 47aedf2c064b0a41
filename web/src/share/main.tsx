// In charge of: putting the shared page, or the bare player, into the page that the Worker answered with.
import { render } from 'preact'
import { SharedPage } from './page.tsx'
import { isEmbedded } from './shareMedia.ts'

const root = document.getElementById('app')
document.documentElement.classList.toggle('embedded', isEmbedded)
if (root) render(<SharedPage />, root)
