// In charge of: whether the form shows the API's name of each field, for people who write requests.
import { createContext } from 'preact'

export const ApiNames = createContext(false)
