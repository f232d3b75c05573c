import {make} from './dom.js';
export const cliff = () => make('div');
