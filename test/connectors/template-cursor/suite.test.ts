import { connectorSuite } from '../../../connectors/conformance/suite.ts';
import connector from '../../../connectors/template-cursor/index.ts';
import { makePms } from './pms.ts';

connectorSuite('template-cursor', { type: connector, makePms });
