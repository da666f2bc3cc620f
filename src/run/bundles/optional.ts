/** Parts that only some runs need, each evaluated on demand; agents in a cluster load this bundle, too. */
export const bus = () => import(/* webpackMode: "eager" */ '../../agents/bus/natsBus.js');
export const credential = () =>
  import(/* webpackMode: "eager" */ '../../targets/entra/credential.js');
export const rows = () => import(/* webpackMode: "eager" */ '../../targets/identities/openRows.js');
