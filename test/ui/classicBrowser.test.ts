import { browserClients } from '../interop/classicClients';
import { describeClient } from '../interop/classicContract';

describeClient({ title: 'browsers', start: browserClients, refusal: /negotiation/ });
