/**
 * What only some runs need, as one bundle that others load; each part is evaluated when it is asked for. It goes to the
 * agents of a cluster with the rest, so it holds what they may need.
 */
export const bus = () => import(/* webpackMode: "eager" */ '../../agents/bus/natsBus.js');
export const credential = () =>
  import(/* webpackMode: "eager" */ '../../targets/entra/credential.js');
export const rows = () => import(/* webpackMode: "eager" */ '../../targets/identities/openRows.js');
